#include "exec/operators/group_values.h"

#include <algorithm>

#include "columns/own_column.h"
#include "exec/core/growing_column.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

// The buffer is compacted once replaced texts take more bytes than current ones, and at least this many.
constexpr int64_t kMinGarbage = 1 << 20;

}  // namespace

GroupValues::GroupValues(LogicalType type, at::Device device) : type_(type) {
  auto none_of = [&](at::ScalarType scalar) { return at::zeros({0}, at::TensorOptions(scalar).device(device)); };
  seen_ = none_of(at::kBool);
  if (type.is_text()) {
    values_ = none_of(at::kLong);
    ends_ = none_of(at::kLong);
    bytes_ = none_of(at::kByte);
  } else {
    values_ = type.is_wide() ? none_of(at::kLong).view({0, 2}) : none_of(type.scalar_type());
  }
}

void GroupValues::set_groups(int64_t groups) {
  for (at::Tensor* own : {&values_, &ends_, &seen_}) {
    if (own->defined()) *own = with_room(*own, own->size(0), groups);
  }
  groups_ = groups;
}

Column GroupValues::view() const {
  const at::Tensor values = values_.narrow(0, 0, groups_), seen = seen_.narrow(0, 0, groups_);
  if (!type_.is_text()) return Column::fixed(type_, values, seen);
  return Column::text(type_, bytes_.narrow(0, 0, used_), values, ends_.narrow(0, 0, groups_), seen);
}

Column GroupValues::finish(int64_t groups) const {
  return own_column(view().slice(0, groups));
}

int64_t GroupValues::memory_bytes() const {
  int64_t bytes = 0;
  for (const at::Tensor* own : {&values_, &ends_, &seen_, &bytes_}) bytes += own->defined() ? static_cast<int64_t>(own->nbytes()) : 0;
  return bytes;
}

void GroupValues::replace(const at::Tensor& groups, const Column& values) {
  if (groups.numel() == 0) return;
  if (type_.is_text()) {
    replace_texts(groups, values);
  } else {
    values_.index_copy_(0, groups, values.values());
  }
  seen_.index_fill_(0, groups, true);
}

void GroupValues::replace_texts(const at::Tensor& groups, const Column& texts) {
  const auto [bytes, offsets] = kernels::text_compact(texts.bytes(), texts.begins(), texts.ends());
  const at::Tensor before = ends_.index_select(0, groups) - values_.index_select(0, groups);
  live_ += bytes.numel() - before.sum().item<int64_t>();
  bytes_ = with_room(bytes_, used_, used_ + bytes.numel());
  bytes_.narrow(0, used_, bytes.numel()).copy_(bytes);
  values_.index_copy_(0, groups, offsets.slice(0, 0, groups.numel()) + used_);
  ends_.index_copy_(0, groups, offsets.slice(0, 1) + used_);
  used_ += bytes.numel();
  if (used_ - live_ > std::max(kMinGarbage, live_)) compact();
}

void GroupValues::compact() {
  const Column all = view();
  const auto [bytes, offsets] = kernels::text_compact(all.bytes(), all.begins(), all.ends());
  bytes_ = bytes;
  values_.narrow(0, 0, groups_).copy_(offsets.slice(0, 0, groups_));
  ends_.narrow(0, 0, groups_).copy_(offsets.slice(0, 1));
  used_ = live_ = bytes.numel();
}

}  // namespace pistachio
