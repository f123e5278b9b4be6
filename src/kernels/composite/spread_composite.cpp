// Reference body of spread: stock ATen calls or scalar loops, slow and simple, on any device.
#include "base/check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity) {
  ENSURE_EQ(values.size(0), validity.sum().item<int64_t>());
  at::DimVector shape(values.sizes().begin(), values.sizes().end());
  shape[0] = validity.size(0);
  at::Tensor out = at::zeros(shape, values.options());
  out.index_copy_(0, validity.nonzero().squeeze(1), values);
  return out;
}

}  // namespace

REGISTER_BODY(Composite, "spread", spread);

}  // namespace pistachio::kernels::composite
