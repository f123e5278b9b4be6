// Entry point of segment_moments and moments_merge.
#include "kernels/ops/segment_moments.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_moments(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  ENSURE(values.is_floating_point(), "moments are of float or double");
  check_words(ids, values);
  ENSURE_EQ(ids.size(0), values.size(0));
  check_state(moments, at::kDouble, 3, values);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation(
      "segment_moments");
  operation.on(values)(moments, ids.contiguous(), values.contiguous(), mask);
}

void moments_merge(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& other) {
  ENSURE(other.defined());
  ENSURE(other.scalar_type() == at::kDouble && other.dim() == 2);
  ENSURE_EQ(other.size(1), 3);
  check_words(ids, other);
  ENSURE_EQ(ids.size(0), other.size(0));
  check_state(moments, at::kDouble, 3, other);
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&)> operation("moments_merge");
  operation.on(other)(moments, ids.contiguous(), other.contiguous());
}

}  // namespace pistachio::kernels
