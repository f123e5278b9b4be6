// Schema and entry point of magnitude_below.
#include "kernels/ops/magnitude_below.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

bool magnitude_below(const at::Tensor& values, int64_t bound) {
  ENSURE(values.scalar_type() == at::kInt || values.scalar_type() == at::kLong);
  ENSURE_EQ(values.dim(), 1);
  ENSURE_GT(bound, 0);
  if (values.numel() == 0) return true;
  static const auto operation = find_operation<bool(const at::Tensor&, int64_t)>("pistachio::magnitude_below");
  return operation.redispatch(dispatch_keys(values), values.contiguous(), bound);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("magnitude_below(Tensor values, int bound) -> bool");
}

}  // namespace pistachio::kernels
