// Schema and entry point of text_compact.
#include "kernels/ops/text_compact.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  check_text(bytes, begins, ends);
  static const auto operation = find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&)>(
      "pistachio::text_compact");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_compact(Tensor bytes, Tensor begins, Tensor ends) -> (Tensor bytes_out, Tensor offsets)");
}

}  // namespace pistachio::kernels
