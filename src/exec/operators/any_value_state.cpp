#include "exec/operators/any_value_state.h"

#include "columns/row_selection.h"
#include "exec/core/growing_column.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

AnyValueState::AnyValueState(LogicalType type, at::Device device)
    : values_(type, device),
      first_rows_(at::zeros({0}, at::TensorOptions(at::kLong).device(device))),
      seen_(at::zeros({0}, at::TensorOptions(at::kBool).device(device))) {}

void AnyValueState::set_groups(int64_t groups) {
  values_.set_groups(groups);
  first_rows_ = with_room(first_rows_, first_rows_.size(0), groups);
  seen_ = with_room(seen_, seen_.size(0), groups);
}

std::vector<Column> AnyValueState::columns_of(const at::Tensor& rows) const {
  return {take_rows(values_.view(), rows)};
}

int64_t AnyValueState::memory_bytes() const {
  return values_.memory_bytes() + static_cast<int64_t>(first_rows_.nbytes() + seen_.nbytes());
}

void AnyValueState::take_first(const at::Tensor& ids, const Column& rows) {
  if (groups_with_value_ == values_.groups()) return;
  at::Tensor is_open = kernels::gather_rows(seen_, ids).logical_not();
  if (rows.has_validity()) is_open = is_open.logical_and(rows.validity());
  const int64_t open = kernels::count_true(is_open);
  if (open == 0) return;
  const at::Tensor open_ids = kernels::compress(ids, is_open, open);
  const at::Tensor numbers = at::arange(open, ids.options());
  kernels::segment_extreme(first_rows_, seen_, open_ids, numbers, /*take_max=*/false);
  const at::Tensor is_first = kernels::gather_rows(first_rows_, open_ids).eq(numbers);
  const at::Tensor groups = kernels::compress(open_ids, is_first);
  groups_with_value_ += groups.numel();
  const Column candidates = select_rows(rows, is_open, open);
  const Column first = select_rows(candidates, is_first, groups.numel());
  values_.replace(groups, first);
}

}  // namespace pistachio
