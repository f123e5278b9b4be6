// Entry point of byte_stream_split_decode.
#include "kernels/ops/byte_stream_split_decode.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/plain_fixed_bytes_decode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor byte_stream_split_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  ENSURE(width > 0 && width <= kLargestFixedWidth, "width {}", width);
  if (is_empty_table(pages)) return at::empty({0, width}, output_options(bytes, at::kByte));
  check_page_table(bytes, pages, 5);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t)> operation("byte_stream_split_decode");
  return operation.on(bytes)(bytes.contiguous(), pages, width);
}

}  // namespace pistachio::kernels
