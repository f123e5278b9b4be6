#include "exec/operators/text_extreme_state.h"

#include "columns/concatenate_columns.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// The groups of a batch, renumbered from 0.
struct BatchGroups {
  at::Tensor ids;     // int64 [rows]: index into `groups`
  at::Tensor groups;  // int64 [groups of the batch]
};

BatchGroups groups_of_batch(const at::Tensor& ids, int64_t all_groups) {
  if (all_groups <= ids.numel()) return {ids, at::arange(all_groups, ids.options())};
  int64_t capacity = 64;
  while (capacity < 2 * ids.numel()) capacity *= 2;
  at::Tensor slots = at::zeros({capacity, 2}, ids.options());
  // Distinct integers have distinct hashes.
  auto [own, first_rows] = kernels::group_assign(slots, 0, capacity / 2, kernels::hash64(ids), 0);
  return {own, ids.index_select(0, first_rows)};
}

}  // namespace

std::vector<Column> TextExtremeState::columns_of(const at::Tensor& rows) const {
  return {take_rows(best_.view(), rows)};
}

at::Tensor TextExtremeState::winners_of(const Column& column, const at::Tensor& ids, int64_t groups) const {
  return kernels::segment_extreme_text(column.bytes(), column.begins(), column.ends(), ids, groups, take_max_, column.validity());
}

// Compares the best of the batch with the best so far, as a batch with two rows per group.
void TextExtremeState::compete(const at::Tensor& ids, const Column& challengers) {
  if (best_.groups() == 0 || challengers.rows() == 0) return;
  BatchGroups batch = groups_of_batch(ids, best_.groups());
  at::Tensor winners = winners_of(challengers, batch.ids, batch.groups.numel());
  const at::Tensor any = winners.ge(0);
  winners = kernels::compress(winners, any);
  const at::Tensor groups = kernels::compress(batch.groups, any);
  const int64_t count = groups.numel();
  if (count == 0) return;
  // Copies only the selected texts: concatenation copies all bytes of a column, even unused ones.
  const Column both = concatenate_columns({own_column(take_rows(best_.view(), groups)), own_column(take_rows(challengers, winners))});
  const at::Tensor numbers = at::arange(count, ids.options());
  const at::Tensor is_better = winners_of(both, kernels::concatenate_tensors({numbers, numbers}), count).ge(count);
  best_.replace(kernels::compress(groups, is_better), take_rows(challengers, kernels::compress(winners, is_better)));
}

}  // namespace pistachio
