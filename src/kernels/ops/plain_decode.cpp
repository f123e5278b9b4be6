// Schema and entry point of plain_decode.
#include "kernels/ops/plain_decode.h"

#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type) {
  ENSURE(type == at::kInt || type == at::kLong || type == at::kFloat || type == at::kDouble, "type {}", c10::toString(type));
  if (is_empty_table(pages)) return at::empty({0}, output_options(bytes, type));
  check_page_table(bytes, pages, 4);
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, c10::ScalarType)>("pistachio::plain_decode");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), pages, type);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("plain_decode(Tensor bytes, Tensor pages, ScalarType type) -> Tensor");
}

}  // namespace pistachio::kernels
