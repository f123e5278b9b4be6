// Merges sorted runs of rows; only the next piece of each run is in memory.
#pragma once

#include <functional>
#include <optional>

#include "exec/core/operator.h"
#include "exec/core/row_order.h"

namespace pistachio {

struct SortedRuns {
  size_t count = 0;
  std::vector<LogicalType> types;
  // The next rows of a run, called once the previous ones were consumed; nullopt at its end.
  std::function<Task<std::optional<Chunk>>(size_t run)> next;
  bool is_concurrent = false;  // next() may be called for different runs concurrently
};

// Passes the rows on in order, on lane 0, until the sink is full. All arguments outlive it.
Task<void> merge_sorted(RunContext& context, const RowOrder& order, const SortedRuns& runs, const MemoryAccount& account,
                        OperatorMetrics& metrics, ChunkSink& sink);

}  // namespace pistachio
