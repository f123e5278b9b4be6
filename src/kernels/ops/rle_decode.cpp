// Entry point of rle_decode.
#include "kernels/ops/rle_decode.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

namespace {

void check_bit_widths_and_limits(const at::Tensor& pages) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    ENSURE(rows[page][2] >= 0 && rows[page][2] <= 32, "bit width {}", rows[page][2]);
    ENSURE(rows[page][3] >= 0 && rows[page][3] <= (int64_t{1} << 31), "limit {}", rows[page][3]);
    ENSURE(rows[page][4] >= 0 && rows[page][4] + rows[page][3] <= int64_t{1} << 31, "base {}", rows[page][4]);
  }
}

}  // namespace

at::Tensor rle_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) return at::empty({0}, output_options(bytes, at::kInt));
  check_page_table(bytes, pages, 7);
  check_bit_widths_and_limits(pages);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("rle_decode");
  return operation.on(bytes)(bytes.contiguous(), pages);
}

}  // namespace pistachio::kernels
