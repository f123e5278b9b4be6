// Hash aggregation. Each lane first aggregates into its own table (partial aggregation) and, if there are too many groups for one table,
// into radix partitions of the group hash (group_lane.h). Then the lanes are merged partition by partition, in parallel and without locks.
// DISTINCT arguments are collected as sets of (group, argument) rows and counted after the sets of all lanes are merged. Tables that do not
// fit into memory are spilled (spillable_groups.h), or, if they are partial results for other ranks, sent early. Without GROUP BY the
// result is exactly one row.
#pragma once

#include "exec/core/operator.h"
#include "exec/operators/spillable_groups.h"
#include "physical/physical_node.h"

namespace pistachio {

class HashAggregateOperator final : public Operator {
 public:
  HashAggregateOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan,
                        std::vector<LogicalType> group_types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class LaneSink;
  class Partition;
  struct LaneSplit;
  using Lanes = std::vector<std::unique_ptr<GroupLane>>;

  AggregateInputs make_inputs() const;
  GroupingPlan grouping_plan(const RunContext& context) const;
  bool may_send_early() const;
  Task<void> merge_spilled(RunContext& context, SpillableGroups& groups, ChunkSink& sink);
  Task<Chunk> results_of(RunContext& context, const GroupStates& groups);
  // Emits the results of these groups.
  Task<void> emit(RunContext& context, int lane, const GroupStates& groups, ChunkSink& sink);
  // Emits the groups of what lanes have passed on, partition by partition.
  Task<void> emit_partitions(RunContext& context, const SpillableGroups& groups, const Lanes& lanes, ChunkSink& sink);
  // Emits all groups of a lane that continues with an empty table.
  Task<void> emit_full(RunContext& context, const SpillableGroups& groups, std::unique_ptr<GroupLane> full, int lane, ChunkSink& sink);
  Task<void> emit_partition(RunContext& context, const SpillableGroups& groups, const std::vector<const GroupLane*>& lanes,
                            int64_t partition, int64_t bits, int lane, ChunkSink& sink);
  // Emits the groups of the only table. Returns false if there is no memory to do so; nothing was emitted then.
  Task<bool> emit_lane(RunContext& context, LaneGroups& lane, ChunkSink& sink);
  // Emits the result of an empty input.
  Task<void> emit_of_no_rows(RunContext& context, ChunkSink& sink);
  // Log2 of the number of radix partitions in which the lanes are merged.
  int64_t partition_bits(const Lanes& lanes) const;
  // Merges the tables of the lanes by partition and emits each partition. Returns false as emit_lane() does.
  Task<bool> merge_lanes(RunContext& context, const MemoryAccount& account, const Lanes& lanes, ChunkSink& sink);
  std::vector<LaneSplit> split_lanes(const Lanes& lanes, int64_t bits, at::Device device, const CancelToken& token);
  Chunk merge_partition(const RunContext& context, const MemoryAccount& account, const Lanes& lanes, const std::vector<LaneSplit>& splits,
                        int64_t partition, const CancelToken& token);

  // One row per group: the keys, then the results of the calls (Partial: their states).
  Chunk results(std::vector<Column> keys, const std::vector<std::unique_ptr<AggregateState>>& states, int64_t groups,
                at::Device device, const CancelToken& token) const;

  OperatorPtr input_;
  AggregateStage stage_;
  bool in_hash_order_;
  std::vector<ColumnId> groups_;
  std::vector<LogicalType> group_types_;
  std::vector<AggregateCall> calls_;
  std::vector<std::vector<ColumnId>> state_columns_;  // Partial and Final: state columns of each running_ call
  std::vector<AggregateCall> running_;                // calls with a state of their own
  std::vector<size_t> state_of_call_;                 // index into running_
};

}  // namespace pistachio
