// Entry point of magnitude_below.
#include "kernels/ops/magnitude_below.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

bool magnitude_below(const at::Tensor& values, Int128 bound, const at::Tensor& validity) {
  check_values(values);
  ENSURE(values.scalar_type() == at::kInt || values.scalar_type() == at::kLong);
  ENSURE(bound > 0 && (is_wide(values) || high_word(bound) == 0));
  if (values.size(0) == 0) return true;
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<bool(const at::Tensor&, int64_t, int64_t, const std::optional<at::Tensor>&)> operation("magnitude_below");
  return operation.on(values)(values.contiguous(), low_word(bound), high_word(bound), mask);
}

}  // namespace pistachio::kernels
