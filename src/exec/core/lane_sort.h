// Sorts rows in memory and passes them on in order. Many rows are sorted on all lanes: rows are divided into ranges of the sort order
// (sort_ranges.h), and lanes sort different ranges, gather their rows and take turns to pass them on.
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "exec/core/row_order.h"

namespace pistachio {

struct SortedOutput {
  int64_t step = 0;                   // rows of a chunk, at most
  std::optional<int64_t> limit = {};  // only the first rows
};

// Passes the rows on in order, on lane 0, one call at a time, until the sink is full. The sort is stable. The caller has reserved
// RowOrder::bytes_per_row for each row. All arguments outlive the task.
Task<void> pass_on_sorted(RunContext& context, const RowOrder& order, const Chunk& rows, SortedOutput output, OperatorMetrics& metrics,
                          ChunkSink& sink);

// The same for rows whose order (int64, sorted row numbers) is known. If memory is short, chunks have fewer rows.
Task<void> pass_on_in_order(const Chunk& rows, at::Tensor order, SortedOutput output, OperatorMetrics& metrics, ChunkSink& sink);

}  // namespace pistachio
