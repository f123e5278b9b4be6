// Reference body of compare_to_groups and compare_to_groups_text: compares every row, since the first row of a new group equals it.
#include "kernels/ops/body_table.h"
#include "kernels/ops/compare_columns.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

bool note(at::Tensor& equal, const at::Tensor& same) {
  const at::Tensor still = equal.logical_and(same);
  const bool none_differs = at::equal(still, equal);
  equal.copy_(still);
  return none_differs;
}

bool compare_to_groups(at::Tensor& equal, const at::Tensor& ids, int64_t /*first_new*/, const at::Tensor& groups, const at::Tensor& rows) {
  return note(equal, compare_columns(groups.index_select(0, ids), Comparison::Equal, rows));
}

bool compare_to_groups_text(at::Tensor& equal, const at::Tensor& ids, int64_t /*first_new*/, const at::Tensor& group_bytes,
                            const at::Tensor& group_begins, const at::Tensor& group_ends, const at::Tensor& row_bytes,
                            const at::Tensor& row_begins, const at::Tensor& row_ends) {
  return note(equal, compare_text_columns(group_bytes, group_begins.index_select(0, ids), group_ends.index_select(0, ids),
                                          Comparison::Equal, row_bytes, row_begins, row_ends));
}

}  // namespace

REGISTER_BODY(Composite, "compare_to_groups", compare_to_groups);
REGISTER_BODY(Composite, "compare_to_groups_text", compare_to_groups_text);

}  // namespace pistachio::kernels::composite
