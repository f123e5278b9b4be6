// The rows of a window on disk, by partitions of the hash of their PARTITION BY columns. Lanes read such partitions of whole window partitions as
// long as several fit into memory; those that do not are taken alone afterwards, split by further bits of the hash where that helps. The rows of
// one window partition are in memory together: if they do not fit, that is an error.
#pragma once

#include <mutex>
#include <vector>

#include "exec/core/operator.h"
#include "exec/window/window_plan.h"
#include "spill/query_spill.h"
#include "spill/spilled_partitions.h"

namespace pistachio {

class SpilledWindows {
 public:
  // All outlive it.
  SpilledWindows(const WindowPlan& plan, RunContext& context, const MemoryAccount& account, OperatorMetrics& metrics, ChunkSink& sink)
      : plan_(plan), context_(context), account_(account), metrics_(metrics), sink_(sink) {}

  Task<void> run(const SpilledPartitions& partitions);

 private:
  int64_t bytes_to_compute(const SpilledChunks& rows) const;
  // `memory` pays for it.
  Task<void> compute(int lane, const SpilledChunks& rows, Reservation memory);
  Task<void> compute_alone(const SpilledChunks& rows, int level, int64_t rows_above);
  Task<void> split(const SpilledChunks& from, SpilledPartitions& to);

  const WindowPlan& plan_;
  RunContext& context_;
  const MemoryAccount& account_;
  OperatorMetrics& metrics_;
  ChunkSink& sink_;
};

}  // namespace pistachio
