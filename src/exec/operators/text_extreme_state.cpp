#include "exec/operators/text_extreme_state.h"

#include <algorithm>

#include "columns/concatenate_columns.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/core/growing_column.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

// Replaced values are kept until they are as many bytes as the others, and at least so many.
constexpr int64_t kLeastGarbage = 1 << 20;

// The groups of a batch, numbered anew from 0.
struct BatchGroups {
  at::Tensor ids;     // int64 [rows]: among those of the batch
  at::Tensor groups;  // int64 [groups of the batch]
};

BatchGroups groups_of_batch(const at::Tensor& ids, int64_t all_groups) {
  if (all_groups <= ids.numel()) return {ids, at::arange(all_groups, ids.options())};
  int64_t capacity = 64;
  while (capacity < 2 * ids.numel()) capacity *= 2;
  at::Tensor slots = at::zeros({capacity, 2}, ids.options());
  // The hashes of integers are different if the integers are.
  auto [own, first_rows] = kernels::group_assign(slots, 0, capacity / 2, kernels::hash64(ids), 0);
  return {own, ids.index_select(0, first_rows)};
}

}  // namespace

TextExtremeState::TextExtremeState(LogicalType type, bool take_max, at::Device device) : type_(type), take_max_(take_max) {
  auto none_of = [&](at::ScalarType scalar) { return at::zeros({0}, at::TensorOptions(scalar).device(device)); };
  begins_ = none_of(at::kLong);
  ends_ = none_of(at::kLong);
  seen_ = none_of(at::kBool);
  bytes_ = none_of(at::kByte);
}

void TextExtremeState::set_groups(int64_t groups) {
  for (at::Tensor* own : {&begins_, &ends_, &seen_}) *own = with_room(*own, own->size(0), groups);
  groups_ = groups;
}

Column TextExtremeState::view() const {
  return Column::text(type_, bytes_.narrow(0, 0, used_), begins_.narrow(0, 0, groups_), ends_.narrow(0, 0, groups_),
                      seen_.narrow(0, 0, groups_));
}

std::vector<Column> TextExtremeState::columns_of(const at::Tensor& rows) const {
  return {take_rows(view(), rows)};
}

Column TextExtremeState::finish(const AggregateCall&, int64_t groups) const {
  return own_column(view().slice(0, groups));
}

int64_t TextExtremeState::memory_bytes() const {
  return static_cast<int64_t>(begins_.nbytes() + ends_.nbytes() + seen_.nbytes() + bytes_.nbytes());
}

at::Tensor TextExtremeState::winners_of(const Column& column, const at::Tensor& ids, int64_t groups) const {
  return kernels::segment_extreme_text(column.bytes(), column.begins(), column.ends(), ids, groups, take_max_, column.validity());
}

// The best of the batch and the best so far compete as a batch of two rows a group.
void TextExtremeState::compete(const at::Tensor& ids, const Column& challengers) {
  if (groups_ == 0 || challengers.rows() == 0) return;
  BatchGroups batch = groups_of_batch(ids, groups_);
  at::Tensor winners = winners_of(challengers, batch.ids, batch.groups.numel());
  const at::Tensor any = winners.ge(0);
  winners = kernels::compress(winners, any);
  const at::Tensor groups = kernels::compress(batch.groups, any);
  const int64_t count = groups.numel();
  if (count == 0) return;
  // Without the texts of other rows: concatenating copies all bytes of a column.
  const Column both = concatenate_columns({own_column(take_rows(view(), groups)), own_column(take_rows(challengers, winners))});
  const at::Tensor numbers = at::arange(count, ids.options());
  const at::Tensor is_better = winners_of(both, at::cat({numbers, numbers}), count).ge(count);
  replace(kernels::compress(groups, is_better), take_rows(challengers, kernels::compress(winners, is_better)));
}

void TextExtremeState::replace(const at::Tensor& groups, const Column& texts) {
  if (groups.numel() == 0) return;
  const auto [bytes, offsets] = kernels::text_compact(texts.bytes(), texts.begins(), texts.ends());
  const at::Tensor before = ends_.index_select(0, groups) - begins_.index_select(0, groups);
  live_ += bytes.numel() - before.sum().item<int64_t>();
  bytes_ = with_room(bytes_, used_, used_ + bytes.numel());
  bytes_.narrow(0, used_, bytes.numel()).copy_(bytes);
  begins_.index_copy_(0, groups, offsets.slice(0, 0, groups.numel()) + used_);
  ends_.index_copy_(0, groups, offsets.slice(0, 1) + used_);
  seen_.index_fill_(0, groups, true);
  used_ += bytes.numel();
  if (used_ - live_ > std::max(kLeastGarbage, live_)) compact();
}

void TextExtremeState::compact() {
  const Column all = view();
  const auto [bytes, offsets] = kernels::text_compact(all.bytes(), all.begins(), all.ends());
  bytes_ = bytes;
  begins_.narrow(0, 0, groups_).copy_(offsets.slice(0, 0, groups_));
  ends_.narrow(0, 0, groups_).copy_(offsets.slice(0, 1));
  used_ = live_ = bytes.numel();
}

}  // namespace pistachio
