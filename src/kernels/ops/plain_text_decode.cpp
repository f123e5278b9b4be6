// Entry point of plain_text_decode.
#include "kernels/ops/plain_text_decode.h"

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> plain_text_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) {
    const at::TensorOptions options = output_options(bytes, at::kLong);
    return {at::empty({0}, options), at::empty({0}, options)};
  }
  check_page_table(bytes, pages, 4);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&)> operation("plain_text_decode");
  return operation.on(bytes)(bytes.contiguous(), pages);
}

}  // namespace pistachio::kernels
