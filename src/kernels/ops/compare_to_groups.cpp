// Entry point of compare_to_groups and compare_to_groups_text.
#include "kernels/ops/compare_to_groups.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

void check_rows(const at::Tensor& equal, const at::Tensor& ids, int64_t first_new, int64_t rows) {
  check_words(ids, equal);
  check_state(equal, at::kBool, 0, ids);
  ENSURE_EQ(equal.size(0), ids.size(0));
  ENSURE_EQ(ids.size(0), rows);
  ENSURE_GE(first_new, 0);
}

}  // namespace

bool compare_to_groups(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const at::Tensor& groups, const at::Tensor& rows) {
  check_values(groups);
  check_values(rows);
  check_rows(equal, ids, first_new, rows.size(0));
  ENSURE(groups.scalar_type() == rows.scalar_type() && groups.dim() == rows.dim());
  static const Operation<bool(at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&, const at::Tensor&)> operation(
      "compare_to_groups");
  return operation.on(rows)(equal, ids.contiguous(), first_new, groups.contiguous(), rows.contiguous());
}

bool compare_to_groups_text(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const TextTensors& groups,
                            const TextTensors& rows) {
  check_text(groups.bytes, groups.begins, groups.ends);
  check_text(rows.bytes, rows.begins, rows.ends);
  check_rows(equal, ids, first_new, rows.begins.size(0));
  static const Operation<bool(at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                              const at::Tensor&, const at::Tensor&, const at::Tensor&)>
      operation("compare_to_groups_text");
  return operation.on(rows.bytes)(equal, ids.contiguous(), first_new, groups.bytes.contiguous(), groups.begins.contiguous(),
                                  groups.ends.contiguous(), rows.bytes.contiguous(), rows.begins.contiguous(), rows.ends.contiguous());
}

}  // namespace pistachio::kernels
