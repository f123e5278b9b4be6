#include "exec/operators/group_lane.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pistachio {

namespace {

// Rows looked up between two checks of whether the table is full: few enough for its tensors to stay in the L2 cache.
constexpr int64_t kStripRows = 1 << 16;
// A table with fewer rows per group than this does not pay.
constexpr double kMinReduction = 2;
// Partitions are this large if they are not too many: with fewer rows, kernel calls would cost more than the rows. Most states are of
// different groups, whose table should fit into the cache.
constexpr int64_t kPartitionStates = 1 << 15;
constexpr int64_t kPartitionRows = 1 << 17;
// A text costs more to copy into a partition than to look up in a table that misses the L2 cache: larger tables pay.
constexpr int64_t kTextFactor = 4;
// Typical bytes of a value that is passed on.
constexpr int64_t kValueBytes = 24;

std::vector<Column> slice_columns(const std::vector<Column>& columns, int64_t begin, int64_t count) {
  std::vector<Column> sliced;
  sliced.reserve(columns.size());
  for (const Column& column : columns) sliced.push_back(column.slice(begin, count));
  return sliced;
}

bool has_text(const std::vector<LogicalType>& types) {
  return std::any_of(types.begin(), types.end(), [](LogicalType type) { return type.is_text(); });
}

template <typename Body>
void for_each_strip_of(int64_t rows, const Body& body) {
  for (int64_t begin = 0; begin < rows; begin += kStripRows) body(begin, std::min(kStripRows, rows - begin));
}

}  // namespace

GroupLane::GroupLane(const GroupingPlan& plan, const MemoryAccount& account)
    : plan_(plan),
      table_limit_(plan.table_limit * (has_text(plan.key_types) ? kTextFactor : 1)),
      table_(plan.key_types, plan.calls, plan.device),
      states_(plan.key_types.size(), plan.batch_bytes),
      rows_(plan.key_types.size(), plan.batch_bytes),
      condense_at_(plan.condense_bytes),
      memory_(account) {
  for (size_t call = 0; call < plan.calls.size(); ++call) all_calls_.push_back(call);
}

bool GroupLane::may_pass_on() const {
  const bool has_distinct = std::any_of(plan_.calls.begin(), plan_.calls.end(), [](const AggregateCall& call) { return call.distinct; });
  return plan_.device.is_cpu() && !plan_.key_types.empty() && !has_distinct;
}

void GroupLane::add(const std::vector<Column>& columns, int64_t rows, Reservation ahead, const CancelToken& token) {
  const bool is_trimmed = ahead.bytes() > 0;
  memory_.add(std::move(ahead));
  if (may_pass_on()) {
    add_strips(columns, rows, token);
    if (states_.memory_bytes() + rows_.memory_bytes() > condense_at_) condense(token);
  } else {
    table_.add(plan_.inputs, columns, rows, plan_.inputs_are_states, token);
  }
  memory_.cover(bytes());
  if (is_trimmed) memory_.trim_to(bytes());
}

void GroupLane::add_strips(const std::vector<Column>& columns, int64_t rows, const CancelToken& token) {
  for (int64_t begin = 0; begin < rows;) {
    const int64_t rest = rows - begin;
    if (passes_on_rows_) return rows_.add(Chunk(slice_columns(columns, begin, rest), rest), token);
    const auto room = static_cast<double>(table_limit_ - table_.groups());
    const int64_t count = new_groups_per_row_ * static_cast<double>(rest) <= room ? rest : std::min(rest, kStripRows);
    const int64_t groups_before = table_.groups();
    table_.add(plan_.inputs, slice_columns(columns, begin, count), count, plan_.inputs_are_states, token);
    begin += count;
    table_rows_ += count;
    const auto added = static_cast<double>(table_.groups() - groups_before);
    new_groups_per_row_ = added / static_cast<double>(count);
    if (static_cast<double>(table_.groups()) + added <= static_cast<double>(table_limit_)) continue;
    passes_on_rows_ = static_cast<double>(table_rows_) < kMinReduction * static_cast<double>(table_.groups());
    const int64_t groups = table_.groups();
    pass_on_table(token);
    if (!passes_on_rows_) table_.reserve(groups);
  }
}

void GroupLane::pass_on_table(const CancelToken& token) {
  states_.add(table_.group_states().rows_of(0, table_.groups(), all_calls_), token);
  table_ = LaneGroups(plan_.key_types, plan_.calls, plan_.device);
  table_rows_ = 0;
}

void GroupLane::condense(const CancelToken& token) {
  states_.close(token);
  rows_.close(token);
  const std::vector<const GroupLane*> only_this = {this};
  const int64_t bits = radix_bits(plan_, only_this), rows_before = states_.rows() + rows_.rows();
  RadixRows condensed(plan_.key_types.size(), plan_.batch_bytes);
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition) {
    const LaneGroups merged = group_partition(plan_, only_this, partition, bits, token);
    const auto groups = static_cast<double>(merged.groups() << bits);
    if (partition == 0 && groups * kMinReduction > static_cast<double>(rows_before)) {
      condense_at_ *= 2;
      return;
    }
    if (merged.groups() > 0) condensed.add(merged.group_states().rows_of(0, merged.groups(), all_calls_), token);
  }
  states_ = std::move(condensed);
  rows_ = RadixRows(plan_.key_types.size(), plan_.batch_bytes);
  condense_at_ = std::max(condense_at_, 2 * states_.memory_bytes());
}

void GroupLane::close(const CancelToken& token) {
  if (table_.groups() > 0) pass_on_table(token);
  states_.close(token);
  rows_.close(token);
}

int64_t GroupLane::most_further_bytes(int64_t rows) const {
  int64_t bytes = table_.most_bytes_with(may_pass_on() ? std::min(rows, table_limit_) : rows);
  const auto values = static_cast<int64_t>(plan_.inputs.expressions().size());
  if (may_pass_on()) bytes += states_.memory_bytes() + rows_.memory_bytes() + rows * values * kValueBytes;
  return std::max<int64_t>(0, bytes - memory_.covered());
}

int64_t radix_bits(const GroupingPlan& plan, const std::vector<const GroupLane*>& lanes) {
  int64_t partitions = 0;
  for (const GroupLane* lane : lanes) partitions += lane->states().rows() / kPartitionStates + lane->rows().rows() / kPartitionRows;
  return std::clamp<int64_t>(std::bit_width(static_cast<uint64_t>(partitions)), plan.least_partition_bits, RadixRows::kBits);
}

LaneGroups group_partition(const GroupingPlan& plan, const std::vector<const GroupLane*>& lanes, int64_t partition, int64_t bits,
                           const CancelToken& token) {
  std::vector<const RadixRows*> states;
  std::vector<const RadixRows*> rows;
  for (const GroupLane* lane : lanes) {
    states.push_back(&lane->states());
    rows.push_back(&lane->rows());
  }
  LaneGroups merged(plan.key_types, plan.calls, plan.device);
  const Chunk of_states = partition_of(states, partition, bits, token);
  merged.reserve(of_states.rows());
  for_each_strip_of(of_states.rows(), [&](int64_t begin, int64_t count) { merged.merge(of_states.slice(begin, count), token); });
  const Chunk of_rows = partition_of(rows, partition, bits, token);
  for_each_strip_of(of_rows.rows(), [&](int64_t begin, int64_t count) {
    merged.add(plan.inputs, slice_columns(of_rows.columns(), begin, count), count, plan.inputs_are_states, token);
  });
  return merged;
}

}  // namespace pistachio
