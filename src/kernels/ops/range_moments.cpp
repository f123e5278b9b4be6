// Entry point of range_moments.
#include "kernels/ops/range_moments.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor range_moments(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                         const at::Tensor& stop) {
  check_values(values);
  ENSURE(values.is_floating_point(), "values are {}", c10::toString(values.scalar_type()));
  check_ranges(begins, ends, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&,
                                    const std::optional<at::Tensor>&)>
      operation("range_moments");
  return operation.on(values)(values.contiguous(), mask, begins.contiguous(), ends.contiguous(), optional_stop(stop));
}

}  // namespace pistachio::kernels
