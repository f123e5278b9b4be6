// Schema and entry point of plain_boolean_decode.
#include "kernels/ops/plain_boolean_decode.h"

#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) return at::empty({0}, output_options(bytes, at::kBool));
  check_page_table(bytes, pages, 4);
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&)>("pistachio::plain_boolean_decode");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), pages);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("plain_boolean_decode(Tensor bytes, Tensor pages) -> Tensor");
}

}  // namespace pistachio::kernels
