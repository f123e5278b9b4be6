#include "kernels/ops/argument_check.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"

namespace pistachio::kernels {

namespace {
// More values in one call are a bug; the limit also keeps sums of counts from overflowing.
constexpr int64_t max_values = int64_t{1} << 44;
}  // namespace

void check_bytes(const at::Tensor& bytes) {
  ENSURE(bytes.defined());
  ENSURE(bytes.scalar_type() == at::kByte, "bytes are {}", c10::toString(bytes.scalar_type()));
  ENSURE_EQ(bytes.dim(), 1);
}

void check_page_table(const at::Tensor& bytes, const at::Tensor& pages, int64_t columns) {
  check_bytes(bytes);
  ENSURE(pages.scalar_type() == at::kLong, "the page table is {}", c10::toString(pages.scalar_type()));
  ENSURE(pages.device().is_cpu());
  ENSURE_EQ(pages.dim(), 2);
  ENSURE_EQ(pages.size(1), columns);
  auto rows = pages.accessor<int64_t, 2>();
  int64_t total = 0;
  for (int64_t page = 0; page < rows.size(0); ++page) {
    ENSURE_GE(rows[page][0], 0);
    ENSURE_LE(rows[page][0], rows[page][1]);
    ENSURE_LE(rows[page][1], bytes.numel());
    for (int64_t column = columns - 2; column < columns; ++column) {
      ENSURE_GE(rows[page][column], 0);
      ENSURE_LE(rows[page][column], max_values);
    }
    total += rows[page][columns - 1];
    ENSURE_LE(total, max_values);
  }
}

int64_t total_take(const at::Tensor& pages) {
  auto rows = pages.accessor<int64_t, 2>();
  int64_t total = 0;
  for (int64_t page = 0; page < rows.size(0); ++page) total += rows[page][rows.size(1) - 1];
  return total;
}

bool is_empty_table(const at::Tensor& pages) {
  return !pages.defined() || pages.numel() == 0;
}

void check_values(const at::Tensor& values) {
  ENSURE(values.defined());
  switch (values.scalar_type()) {
    case at::kBool:
    case at::kByte:
    case at::kChar:
    case at::kShort:
    case at::kInt:
    case at::kLong:
    case at::kFloat:
    case at::kDouble: break;
    default: ENSURE(false, "no column has dtype {}", c10::toString(values.scalar_type()));
  }
  if (values.dim() == 2) {
    ENSURE_EQ(values.size(1), 2);
    ENSURE(values.scalar_type() == at::kLong, "two-word values are {}", c10::toString(values.scalar_type()));
  } else {
    ENSURE_EQ(values.dim(), 1);
  }
}

bool is_wide(const at::Tensor& values) {
  return values.dim() == 2;
}

void check_mask(const at::Tensor& mask, int64_t rows, const at::Tensor& other) {
  ENSURE(mask.defined());
  ENSURE(mask.scalar_type() == at::kBool, "the mask is {}", c10::toString(mask.scalar_type()));
  ENSURE_EQ(mask.dim(), 1);
  ENSURE_EQ(mask.size(0), rows);
  ENSURE(mask.device() == other.device());
}

void check_codes(const at::Tensor& codes, const at::Tensor& other) {
  ENSURE(codes.defined());
  ENSURE(codes.scalar_type() == at::kInt, "codes are {}", c10::toString(codes.scalar_type()));
  ENSURE_EQ(codes.dim(), 1);
  ENSURE(codes.device() == other.device());
}

void check_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  check_bytes(bytes);
  ENSURE(begins.defined() && ends.defined());
  ENSURE(begins.scalar_type() == at::kLong && ends.scalar_type() == at::kLong);
  ENSURE_EQ(begins.dim(), 1);
  ENSURE_EQ(ends.dim(), 1);
  ENSURE_EQ(begins.size(0), ends.size(0));
  ENSURE(begins.device() == bytes.device() && ends.device() == bytes.device());
}

}  // namespace pistachio::kernels
