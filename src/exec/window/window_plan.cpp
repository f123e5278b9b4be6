#include "exec/window/window_plan.h"

#include <algorithm>

#include "base/check.h"
#include "columns/column_hash.h"
#include "exec/operators/aggregate_inputs.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Of the words of a sort key; of a text's, scratch space for its rank, too.
constexpr int64_t kWordBytes = 16;
constexpr int64_t kRankingBytes = 40;
// The order of the rows, the bounds of their partitions and peers.
constexpr int64_t kBoundBytes = 48;
// Frame, values in order, and result of a call.
constexpr int64_t kCallBytes = 64;

bool looks_at_peers(const WindowCall& call) {
  const WindowFrame& frame = call.frame;
  switch (call.kind) {
    case WindowKind::Rank:
    case WindowKind::DenseRank:
    case WindowKind::PercentRank:
    case WindowKind::CumeDist: return true;
    default: break;
  }
  if (!uses_frame(call.kind)) return false;
  if (frame.exclusion == WindowFrame::Exclusion::Group || frame.exclusion == WindowFrame::Exclusion::Ties) return true;
  const bool is_whole = frame.begin.kind == FrameBound::Kind::UnboundedPreceding && frame.end.kind == FrameBound::Kind::UnboundedFollowing;
  return frame.unit != WindowFrame::Unit::Rows && !is_whole;
}

}  // namespace

WindowPlan::WindowPlan(PhysicalWindow own, const std::vector<ColumnId>& input_layout, std::vector<LogicalType> input_types)
    : plan(std::move(own)), types(std::move(input_types)), expressions(list_expressions(), input_layout) {
  for (ColumnId column : plan.partition) {
    auto found = std::find(input_layout.begin(), input_layout.end(), column);
    ENSURE(found != input_layout.end());
    partition.push_back(static_cast<size_t>(found - input_layout.begin()));
  }
}

std::vector<ExpressionPtr> WindowPlan::list_expressions() {
  std::vector<ExpressionPtr> list;
  auto add = [&](const ExpressionPtr& expression) {
    if (!expression) return -1;
    list.push_back(expression);
    return static_cast<int>(list.size()) - 1;
  };
  for (const SortKey& key : plan.order) order.push_back(add(key.expression));
  for (const WindowCall& call : plan.calls) {
    CallPlaces places;
    for (const ExpressionPtr& argument : call.arguments) places.arguments.push_back(add(guarded_argument(argument, call.filter)));
    places.filter = add(call.filter);
    places.range_key = add(call.frame.range_key);
    places.range_begin = add(call.frame.begin.value);
    places.range_end = add(call.frame.end.value);
    calls.push_back(std::move(places));
  }
  return list;
}

std::vector<Column> WindowPlan::partition_columns(const Chunk& rows) const {
  std::vector<Column> columns;
  for (size_t place : partition) columns.push_back(rows.column(place));
  return columns;
}

at::Tensor WindowPlan::partition_hashes(const Chunk& rows, const CancelToken& token) const {
  if (partition.empty()) return at::zeros({rows.rows()}, at::TensorOptions(at::kLong).device(rows.device()));
  return hash_rows(partition_columns(rows), token);
}

size_t WindowPlan::keys_of_peers() const {
  size_t keys = 0;
  for (const WindowCall& call : plan.calls) {
    if (looks_at_peers(call)) keys = std::max(keys, call.order_keys);
  }
  return keys;
}

int64_t WindowPlan::bytes_per_row() const {
  int64_t bytes = kBoundBytes + kCallBytes * static_cast<int64_t>(plan.calls.size());
  auto add_key = [&](LogicalType type) { bytes += kWordBytes * (type.is_wide() ? 2 : 1) + (type.is_text() ? kRankingBytes : 0); };
  for (size_t place : partition) add_key(types[place]);
  for (const SortKey& key : plan.order) add_key(key.expression->type());
  return bytes;
}

}  // namespace pistachio
