// Reference body of compress and count_true: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>
#include <ATen/core/Tensor.h>

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask, int64_t) {
  return values.index({mask});
}

int64_t count_true(const at::Tensor& mask) {
  return mask.sum().item<int64_t>();
}

}  // namespace

REGISTER_BODY(Composite, "compress", compress);
REGISTER_BODY(Composite, "count_true", count_true);

}  // namespace pistachio::kernels::composite
