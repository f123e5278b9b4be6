// Merges partial results of equal groups before they leave a host, or on arrival at another, in tables of bounded size (combine_tables.h).
// The final aggregation merges the rest. Tables that receive no rows for a while are flushed. Reports to OnPathChoice how many rows were
// merged.
#pragma once

#include <vector>

#include "exec/core/operator.h"
#include "exec/operators/combine_tables.h"
#include "physical/physical_node.h"

namespace pistachio {

class CombineOperator final : public Operator {
 public:
  // `layout`: of the input, which reads from `exchange`.
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
