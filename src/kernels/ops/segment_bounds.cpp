// Schema and entry point of segment_bounds.
#include "kernels/ops/segment_bounds.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts) {
  ENSURE(starts.defined());
  ENSURE_EQ(starts.dim(), 1);
  check_mask(starts, starts.size(0), starts);
  static const auto operation = find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&)>("pistachio::segment_bounds");
  return operation.redispatch(dispatch_keys(starts), starts.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("segment_bounds(Tensor starts) -> (Tensor, Tensor)");
}

}  // namespace pistachio::kernels
