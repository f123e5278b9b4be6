// Retained rows that can be read any number of times: in memory or on disk.
#pragma once

#include <memory>
#include <vector>

#include "exec/core/spillable_rows.h"
#include "spill/spilled_chunks.h"

namespace pistachio {

class ReplayableRows final : public SpillableRows {
 public:
  ReplayableRows(RunContext& context, MemoryAccount account, std::vector<LogicalType> types, OperatorMetrics& metrics)
      : SpillableRows(context, std::move(account), std::move(types), metrics) {}

  // Calls close() and prepares replay().
  Task<void> finish();
  // After finish(): passes on all rows, distributed over the lanes, with the columns at `places`. Any number of times, also concurrently.
  Task<void> replay(OperatorMetrics& metrics, ChunkSink& sink, const std::vector<size_t>& places);

 private:
  int64_t bytes_to_finish(int64_t, int64_t) const override { return 0; }
  Task<int64_t> write(Chunk rows) override;

  Pieces in_memory_;
  std::unique_ptr<SpilledChunks> on_disk_;  // once rows were written
};

// Passes on the chunks, distributed over the lanes, with the columns at `places`.
Task<void> pass_kept(OperatorMetrics& metrics, RunContext& context, ChunkSink& sink, const std::vector<Chunk>& chunks,
                     const std::vector<size_t>& places);

Chunk columns_at(const Chunk& chunk, const std::vector<size_t>& places);

}  // namespace pistachio
