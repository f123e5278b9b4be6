// Reference body of plain_decode, plain_boolean_decode and plain_fixed_bytes_decode: stock ATen calls, slow and simple, on any device.

#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// bytes[begin, end) of a page that must hold `needed` bytes.
at::Tensor page_bytes(const at::Tensor& bytes, int64_t begin, int64_t end, int64_t needed) {
  if (needed > end - begin) throw DataError(fmt::format("the page has {} bytes, {} are needed", end - begin, needed), {.offset = end});
  return bytes.slice(0, begin, end);
}

at::Tensor plain_fixed_bytes_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  std::vector<at::Tensor> parts;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t skip = rows[page][2], take = rows[page][3];
    const at::Tensor stored = page_bytes(bytes, rows[page][0], rows[page][1], (skip + take) * width);
    parts.push_back(stored.slice(0, skip * width, (skip + take) * width).view({take, width}));
  }
  return concatenate_tensors(parts);
}

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type) {
  const int64_t width = static_cast<int64_t>(c10::elementSize(type));
  return plain_fixed_bytes_decode(bytes, pages, width).view(type).view({-1});
}

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  std::vector<at::Tensor> parts;
  const at::Tensor bit_of_byte = at::arange(8, bytes.options());
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t skip = rows[page][2], take = rows[page][3];
    const at::Tensor stored = page_bytes(bytes, rows[page][0], rows[page][1], (skip + take + 7) / 8);
    const at::Tensor bits = at::bitwise_and(at::bitwise_right_shift(stored.unsqueeze(1), bit_of_byte), 1).view({-1});
    parts.push_back(bits.slice(0, skip, skip + take).to(at::kBool));
  }
  return concatenate_tensors(parts);
}

}  // namespace

REGISTER_BODY(Composite, "plain_fixed_bytes_decode", plain_fixed_bytes_decode);
REGISTER_BODY(Composite, "plain_decode", plain_decode);
REGISTER_BODY(Composite, "plain_boolean_decode", plain_boolean_decode);

}  // namespace pistachio::kernels::composite
