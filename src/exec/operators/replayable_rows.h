// Rows that are read any number of times: in memory, or on disk.
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

  // close(), and what is needed to replay.
  Task<void> finish();
  // After finish(): passes on all rows, spread over the lanes: of each the columns at these places. Any number of times, also concurrently.
  Task<void> replay(OperatorMetrics& metrics, ChunkSink& sink, const std::vector<size_t>& places);

 private:
  int64_t bytes_to_finish(int64_t, int64_t) const override { return 0; }
  Task<int64_t> write(Chunk rows) override;

  Pieces in_memory_;
  std::unique_ptr<SpilledChunks> on_disk_;  // once rows were written
};

// Passes on chunks, spread over the lanes: of each the columns at these places.
Task<void> pass_kept(OperatorMetrics& metrics, RunContext& context, ChunkSink& sink, const std::vector<Chunk>& chunks,
                     const std::vector<size_t>& places);

Chunk columns_at(const Chunk& chunk, const std::vector<size_t>& places);

}  // namespace pistachio
