// Entry point of compare_constant and compare_wide_constant.
#include "kernels/ops/compare_constant.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor compare_constant(const at::Tensor& values, Comparison comparison, const at::Scalar& constant) {
  check_values(values);
  ENSURE(!is_wide(values), "two-word values go to compare_wide_constant");
  ENSURE(values.is_floating_point() || constant.isIntegral(true), "integers are compared with a fractional constant");
  static const Operation<at::Tensor(const at::Tensor&, int64_t, const at::Scalar&)> operation("compare_constant");
  return operation.on(values)(values.contiguous(), static_cast<int64_t>(comparison), constant);
}

at::Tensor compare_wide_constant(const at::Tensor& values, Comparison comparison, int64_t low, int64_t high) {
  check_values(values);
  ENSURE(is_wide(values), "one-word values go to compare_constant");
  static const Operation<at::Tensor(const at::Tensor&, int64_t, int64_t, int64_t)> operation("compare_wide_constant");
  return operation.on(values)(values.contiguous(), static_cast<int64_t>(comparison), low, high);
}

}  // namespace pistachio::kernels
