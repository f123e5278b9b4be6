// Schema and entry point of text_compact.
#include "kernels/ops/text_compact.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t room) {
  check_text(bytes, begins, ends);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t)>(
          "pistachio::text_compact");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous(), room);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_compact(Tensor bytes, Tensor begins, Tensor ends, int room) -> (Tensor bytes_out, Tensor offsets)");
}

}  // namespace pistachio::kernels
