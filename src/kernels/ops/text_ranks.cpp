// Schema and entry point of text_ranks.
#include "kernels/ops/text_ranks.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  check_text(bytes, begins, ends);
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>("pistachio::text_ranks");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_ranks(Tensor bytes, Tensor begins, Tensor ends) -> Tensor");
}

}  // namespace pistachio::kernels
