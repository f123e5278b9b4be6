// Schema and entry point of text_ranks.
#include "kernels/ops/text_ranks.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& stop) {
  check_text(bytes, begins, ends);
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)>(
          "pistachio::text_ranks");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous(), optional_stop(stop));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_ranks(Tensor bytes, Tensor begins, Tensor ends, Tensor? stop) -> Tensor");
}

}  // namespace pistachio::kernels
