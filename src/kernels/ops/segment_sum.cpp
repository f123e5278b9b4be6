// Entry point of segment_count, segment_sum, sums_fit and segment_sum_float.
#include "kernels/ops/segment_sum.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_count(at::Tensor& counts, const at::Tensor& ids, const at::Tensor& validity) {
  check_words(ids, ids);
  check_state(counts, at::kLong, 0, ids);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation("segment_count");
  operation.on(ids)(counts, ids.contiguous(), mask);
}

void segment_sum(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity, bool fit) {
  check_values(values);
  ENSURE(!values.is_floating_point(), "floating-point values go to segment_sum_float");
  check_words(ids, values);
  ENSURE_EQ(ids.size(0), values.size(0));
  check_state(sums, at::kLong, 2, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, bool)> operation(
      "segment_sum");
  operation.on(values)(sums, ids.contiguous(), values.contiguous(), mask, fit);
}

bool sums_fit(const at::Tensor& sums, const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  check_state(sums, at::kLong, 2, values);
  if (!is_wide(values) || values.size(0) == 0) return true;
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<bool(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation("sums_fit");
  return operation.on(values)(sums, values.contiguous(), mask);
}

void segment_sum_float(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  ENSURE(values.is_floating_point(), "integers go to segment_sum");
  check_words(ids, values);
  ENSURE_EQ(ids.size(0), values.size(0));
  check_state(sums, at::kDouble, 0, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation(
      "segment_sum_float");
  operation.on(values)(sums, ids.contiguous(), values.contiguous(), mask);
}

}  // namespace pistachio::kernels
