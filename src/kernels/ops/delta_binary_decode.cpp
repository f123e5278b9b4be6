// Entry point of delta_binary_decode.
#include "kernels/ops/delta_binary_decode.h"

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit) {
  if (is_empty_table(pages)) return {at::empty({0}, output_options(bytes, at::kLong)), at::empty({0}, at::kLong)};
  check_page_table(bytes, pages, 5);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, bool)> operation("delta_binary_decode");
  return operation.on(bytes)(bytes.contiguous(), pages, is_32_bit);
}

}  // namespace pistachio::kernels
