// Schema and entry point of text_prefixes.
#include "kernels/ops/text_prefixes.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_prefixes(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                 const at::Tensor& prefix) {
  check_text(bytes, begins, ends);
  ENSURE(prefix.is_cpu() && prefix.scalar_type() == at::kByte && prefix.dim() == 1);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&)>(
          "pistachio::text_prefixes");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous(), prefix.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_prefixes(Tensor bytes, Tensor begins, Tensor ends, Tensor prefix) -> (Tensor words, Tensor lengths)");
}

}  // namespace pistachio::kernels
