// Window functions: OVER (PARTITION BY ... ORDER BY ...). Retains its input, divides it into buckets of whole partitions, and sorts and computes the
// buckets on all lanes; without PARTITION BY there is one bucket, which one lane works on. Rows that do not fit into memory are spilled by
// partitions of the hash (spilled_windows.h). Rows leave in the order of their partitions.
#pragma once

#include "exec/core/operator.h"
#include "exec/window/window_plan.h"

namespace pistachio {

class WindowOperator final : public Operator {
 public:
  // `types`: of the input.
  WindowOperator(OperatorPtr input, std::vector<ColumnId> layout, PhysicalWindow plan, std::vector<LogicalType> types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  const WindowPlan plan_;
};

// Computes the window over rows of whole partitions, and passes them on with the results. What it needs is reserved before.
Task<void> emit_window(RunContext& context, const WindowPlan& plan, const Chunk& rows, int lane, OperatorMetrics& metrics, ChunkSink& sink);

}  // namespace pistachio
