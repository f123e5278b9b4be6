// Entry point of plain_boolean_decode.
#include "kernels/ops/plain_boolean_decode.h"

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) return at::empty({0}, output_options(bytes, at::kBool));
  check_page_table(bytes, pages, 4);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("plain_boolean_decode");
  return operation.on(bytes)(bytes.contiguous(), pages);
}

}  // namespace pistachio::kernels
