// Merges partial results of equal groups on their way to another host, or on arrival there, as far as tables of bounded size go
// (combine_tables.h). What is not merged here is merged by the final aggregation. Tables that get no rows for a while are flushed. Reports
// to OnPathChoice how much was merged.
#pragma once

#include <vector>

#include "exec/core/operator.h"
#include "exec/operators/combine_tables.h"
#include "physical/physical_node.h"

namespace pistachio {

class CombineOperator final : public Operator {
 public:
  // `layout` is that of the input, which comes from that exchange.
  CombineOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan, std::vector<LogicalType> group_types,
                  const PhysicalExchange& exchange);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class Combiner;

  OperatorPtr input_;
  const PhysicalExchange exchange_;
  CombinedColumns columns_;
};

}  // namespace pistachio
