// Entry point of spread.
#include "kernels/ops/spread.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  ENSURE(validity.defined());
  check_mask(validity, validity.numel(), values);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("spread");
  return operation.on(values)(values.contiguous(), validity.contiguous());
}

}  // namespace pistachio::kernels
