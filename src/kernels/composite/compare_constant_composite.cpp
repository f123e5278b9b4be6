// Reference body of compare_constant and compare_wide_constant: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>

#include "kernels/composite/comparison_answer.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor compare_constant(const at::Tensor& values, int64_t comparison, const at::Scalar& constant) {
  if (!values.is_floating_point()) {
    const at::Tensor wide = values.to(at::kLong);
    const int64_t right = constant.to<int64_t>();
    return answer(wide.lt(right), wide.eq(right), comparison);
  }
  const at::Tensor wide = values.to(at::kDouble);
  const double right = constant.to<double>();
  if (std::isnan(right)) return answer(wide.isnan().logical_not(), wide.isnan(), comparison);
  return answer(wide.lt(right), wide.eq(right), comparison);
}

at::Tensor compare_wide_constant(const at::Tensor& values, int64_t comparison, int64_t low, int64_t high) {
  constexpr int64_t sign = std::numeric_limits<int64_t>::min();  // maps unsigned to signed order
  const at::Tensor low_words = values.select(1, 0), high_words = values.select(1, 1);
  const at::Tensor high_equal = high_words.eq(high);
  const at::Tensor low_less = low_words.bitwise_xor(sign).lt(low ^ sign);
  return answer(high_words.lt(high).logical_or(high_equal.logical_and(low_less)), high_equal.logical_and(low_words.eq(low)), comparison);
}

}  // namespace

REGISTER_BODY(Composite, "compare_constant", compare_constant);
REGISTER_BODY(Composite, "compare_wide_constant", compare_wide_constant);

}  // namespace pistachio::kernels::composite
