// Entry point of range_sum and range_sum_float.
#include "kernels/ops/range_sum.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

namespace {

using Signature = at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&,
                             const std::optional<at::Tensor>&);

}  // namespace

at::Tensor range_sum(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                     const at::Tensor& stop) {
  check_values(values);
  ENSURE(!values.is_floating_point(), "floating-point values go to range_sum_float");
  check_ranges(begins, ends, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<Signature> operation("range_sum");
  return operation.on(values)(values.contiguous(), mask, begins.contiguous(), ends.contiguous(), optional_stop(stop));
}

at::Tensor range_sum_float(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                           const at::Tensor& stop) {
  check_values(values);
  ENSURE(values.is_floating_point(), "integers go to range_sum");
  check_ranges(begins, ends, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<Signature> operation("range_sum_float");
  return operation.on(values)(values.contiguous(), mask, begins.contiguous(), ends.contiguous(), optional_stop(stop));
}

}  // namespace pistachio::kernels
