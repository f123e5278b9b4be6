// Reference body of magnitude_below: a stock ATen reduction, on any device.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace pistachio::kernels::composite {

namespace {

bool magnitude_below(const at::Tensor& values, int64_t bound) {
  const at::Tensor wide = values.to(at::kLong);
  return wide.lt(bound).logical_and_(wide.gt(-bound)).all().item<bool>();
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CompositeExplicitAutograd, library) {
  library.impl("magnitude_below", TORCH_FN(magnitude_below));
}

}  // namespace pistachio::kernels::composite
