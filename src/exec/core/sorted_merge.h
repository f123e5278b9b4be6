// Merges sorted runs of rows, round by round; only the next pieces of each run are in memory.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "exec/core/operator.h"
#include "exec/core/row_order.h"

namespace pistachio {

// Where a round of a merge ends, and what it needs besides the rows that are in memory already.
struct MergeBound {
  Chunk key;                   // of the last row that the round outputs
  size_t run = 0;              // of that row
  std::vector<size_t> pieces;  // to read, by run; all but the last of a run end within the round
};

struct SortedRuns {
  size_t count = 0;
  std::vector<LogicalType> types;
  // The next rows of a run, called once the previous ones were consumed; nullopt at its end.
  std::function<Task<std::optional<Chunk>>(size_t run)> next;
  bool is_concurrent = false;  // next() may be called for different runs concurrently
  // Of the next round; nullopt: the last round was named before. Empty if it is not known which rows come: each round then reads the next
  // piece of every run.
  std::function<std::optional<MergeBound>()> next_bound = {};
};

// Passes the rows on in order, on lane 0, until the sink is full. All arguments outlive it.
Task<void> merge_sorted(RunContext& context, const RowOrder& order, const SortedRuns& runs, const MemoryAccount& account,
                        OperatorMetrics& metrics, ChunkSink& sink);

}  // namespace pistachio
