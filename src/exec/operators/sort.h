// ORDER BY with or without LIMIT. Sort keys become words whose signed order is the requested one, and kernels sort them, on all lanes if
// there are many rows (exec/core/lane_sort.h). With a LIMIT only the best rows are retained, and all lanes together drop rows beyond the
// best found so far (exec/core/top_filter.h). Rows that do not fit into memory are spilled as sorted runs.
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "exec/core/row_order.h"
#include "physical/physical_node.h"

namespace pistachio {

class SortableRows;

class SortOperator final : public Operator {
 public:
  SortOperator(OperatorPtr input, const PhysicalSort& sort, std::vector<LogicalType> types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class BestRows;

  Task<void> retain_all(RunContext& context, SortableRows& rows);
  Task<void> retain_best(RunContext& context, SortableRows& rows);
  Task<void> emit(RunContext& context, SortableRows& rows, ChunkSink& sink);
  Task<std::optional<at::Tensor>> sort(RunContext& context, const MemoryAccount& account, const Chunk& rows, Reservation& words);

  OperatorPtr input_;
  RowOrder order_;
  std::optional<int64_t> limit_;
  const bool has_threshold_;
  const std::optional<size_t> filter_;  // number of the filter that a scan below has
  std::vector<LogicalType> types_;
};

}  // namespace pistachio
