// ORDER BY with or without LIMIT. Sort keys become words whose signed order is the requested one, and one kernel call sorts them. With a LIMIT each lane
// retains only its best rows, and all lanes together drop rows beyond the best found so far (exec/core/top_filter.h); without, rows that do not fit
// into memory are spilled as sorted runs.
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "exec/core/row_order.h"
#include "physical/physical_node.h"

namespace pistachio {

class SortOperator final : public Operator {
 public:
  SortOperator(OperatorPtr input, const PhysicalSort& sort, std::vector<LogicalType> types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class BestRows;

  Task<void> sort_best(RunContext& context, ChunkSink& sink);
  Task<void> sort_all(RunContext& context, ChunkSink& sink);
  // Sorts and emits rows in memory.
  Task<void> emit_sorted(RunContext& context, const Chunk& rows, const MemoryAccount& account, ChunkSink& sink);
  at::Tensor timed_order_of(const Chunk& rows, const CancelToken& token);

  OperatorPtr input_;
  RowOrder order_;
  std::optional<int64_t> limit_;
  const bool has_threshold_;
  const std::optional<size_t> filter_;  // number of the filter that a scan below has
  std::vector<LogicalType> types_;
};

}  // namespace pistachio
