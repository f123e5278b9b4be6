// Merges partial results of equal groups on their way to another host, as far as a table of bounded size goes: when a lane's table is full,
// its rows are passed on and it starts again. If hardly any were merged, the next ones are passed on at once for a while. What is not merged
// here is merged by the final aggregation.
#pragma once

#include <vector>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

class CombineOperator final : public Operator {
 public:
  // `layout` is that of the input.
  CombineOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan, std::vector<LogicalType> group_types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class Lane;
  class Combiner;

  OperatorPtr input_;
  std::vector<LogicalType> group_types_;
  std::vector<size_t> group_places_;  // in the layout
  std::vector<AggregateCall> running_;
  std::vector<std::vector<size_t>> state_places_;
};

}  // namespace pistachio
