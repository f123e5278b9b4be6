// The groups of one lane while it adds rows. They are in one table as long as it stays small enough for the cache. A full table is passed
// on, as partial states, to radix partitions by the hash of the keys, and the lane starts with an empty one; if the table hardly reduced
// its rows, later rows are passed on as they are. In the end each partition is grouped once, in a table of its own. A lane that has passed
// on many rows of few groups groups its partitions before, so that memory grows with the groups and not with the rows. Tables with DISTINCT
// calls, without keys or on a GPU grow instead. Not thread-safe.
#pragma once

#include <vector>

#include "exec/core/growing_reservation.h"
#include "exec/operators/lane_groups.h"
#include "exec/operators/radix_rows.h"

namespace pistachio {

// What the lanes of one aggregation have in common.
struct GroupingPlan {
  std::vector<LogicalType> key_types;
  std::vector<AggregateCall> calls;
  AggregateInputs inputs;
  bool inputs_are_states = false;
  at::Device device = at::kCPU;
  int64_t table_limit = 0;             // groups
  int64_t condense_bytes = 128 << 20;  // of what a lane has passed on
  int64_t batch_bytes = INT64_MAX;     // of rows that a lane orders by partition at once
  // Log2 of the least number of partitions in which lanes group what they have passed on.
  int64_t least_partition_bits = 0;
};

class GroupLane {
 public:
  // `plan` outlives it.
  GroupLane(const GroupingPlan& plan, const MemoryAccount& account);

  // `columns`: the values of inputs.expressions(). `ahead`: a reservation of most_further_bytes(rows); empty if it was not granted.
  void add(const std::vector<Column>& columns, int64_t rows, Reservation ahead, const CancelToken& token);

  bool is_empty() const { return table_.groups() == 0 && !has_passed_on(); }
  LaneGroups& table() { return table_; }
  const LaneGroups& table() const { return table_; }
  int64_t reserved_bytes() const { return memory_.covered(); }
  // Upper bound on the bytes by which adding `rows` rows can grow the reservation.
  int64_t most_further_bytes(int64_t rows) const;

  // Whether there are groups or rows outside of the table.
  bool has_passed_on() const { return states_.rows() + rows_.rows() > 0; }
  // Passes on the groups of the table; nothing may be added any more.
  void close(const CancelToken& token);
  const RadixRows& states() const { return states_; }
  const RadixRows& rows() const { return rows_; }

 private:
  void add_strips(const std::vector<Column>& columns, int64_t rows, const CancelToken& token);
  void pass_on_table(const CancelToken& token);
  // Groups what was passed on, if that reduces it.
  void condense(const CancelToken& token);
  bool may_pass_on() const;
  int64_t bytes() const { return table_.memory_bytes() + states_.memory_bytes() + rows_.memory_bytes(); }

  const GroupingPlan& plan_;
  const int64_t table_limit_;  // groups
  std::vector<size_t> all_calls_;
  LaneGroups table_;
  int64_t table_rows_ = 0;         // added to the table since it was empty
  double new_groups_per_row_ = 1;  // of the rows added last
  bool passes_on_rows_ = false;
  RadixRows states_;     // keys followed by the states of all calls
  RadixRows rows_;       // values of inputs.expressions()
  int64_t condense_at_;  // bytes passed on
  GrowingReservation memory_;
};

// Log2 of the number of partitions in which to group what the lanes have passed on.
int64_t radix_bits(const GroupingPlan& plan, const std::vector<const GroupLane*>& lanes);
// The groups of radix partition `partition` of 2^bits of all lanes, which are closed.
LaneGroups group_partition(const GroupingPlan& plan, const std::vector<const GroupLane*>& lanes, int64_t partition, int64_t bits,
                           const CancelToken& token);

}  // namespace pistachio
