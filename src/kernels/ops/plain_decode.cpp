// Entry point of plain_decode.
#include "kernels/ops/plain_decode.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type) {
  ENSURE(type == at::kInt || type == at::kLong || type == at::kFloat || type == at::kDouble, "type {}", c10::toString(type));
  if (is_empty_table(pages)) return at::empty({0}, output_options(bytes, type));
  check_page_table(bytes, pages, 4);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, c10::ScalarType)> operation("plain_decode");
  return operation.on(bytes)(bytes.contiguous(), pages, type);
}

}  // namespace pistachio::kernels
