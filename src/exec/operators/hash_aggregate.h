// Hash aggregation. Each lane first aggregates into its own table (partial aggregation); then the tables are merged by radix partition of the
// group hash, all partitions in parallel and without locks. DISTINCT arguments are collected as sets of (group, argument) rows and counted after
// the sets of all lanes are merged. Without GROUP BY the result is exactly one row.
#pragma once

#include "exec/core/operator.h"
#include "exec/operators/aggregate_state.h"
#include "physical/physical_node.h"

namespace pistachio {

class HashAggregateOperator final : public Operator {
 public:
  HashAggregateOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan,
                        std::vector<LogicalType> group_types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class Lane;
  class Partition;

  // One row for each group: the keys, then the results of the calls (Partial: the columns of the states).
  Chunk results(std::vector<Column> keys, const std::vector<std::unique_ptr<AggregateState>>& states, int64_t groups,
                at::Device device) const;

  OperatorPtr input_;
  AggregateStage stage_;
  std::vector<ColumnId> groups_;
  std::vector<LogicalType> group_types_;
  std::vector<AggregateCall> calls_;
  std::vector<std::vector<ColumnId>> state_columns_;  // Partial and Final: those of running_
  std::vector<AggregateCall> running_;                // those that have a state of their own
  std::vector<size_t> state_of_call_;                 // place in running_
};

}  // namespace pistachio
