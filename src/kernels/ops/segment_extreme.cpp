// Entry point of segment_extreme and segment_extreme_text.
#include "kernels/ops/segment_extreme.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const at::Tensor& validity) {
  check_values(values);
  check_words(ids, values);
  ENSURE_EQ(ids.size(0), values.size(0));
  check_state(best, values.scalar_type(), is_wide(values) ? 2 : 0, values);
  check_state(seen, at::kBool, 0, values);
  ENSURE_EQ(best.size(0), seen.size(0));
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, at::Tensor&, const at::Tensor&, const at::Tensor&, bool, const std::optional<at::Tensor>&)>
      operation("segment_extreme");
  operation.on(values)(best, seen, ids.contiguous(), values.contiguous(), take_max, mask);
}

at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const at::Tensor& validity) {
  check_text(bytes, begins, ends);
  check_words(ids, bytes);
  ENSURE_EQ(ids.size(0), begins.size(0));
  ENSURE_GE(groups, 0);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, bool,
                                    const std::optional<at::Tensor>&)>
      operation("segment_extreme_text");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), ids.contiguous(), groups, take_max, mask);
}

}  // namespace pistachio::kernels
