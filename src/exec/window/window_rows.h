// The rows of a window's input, retained: in memory, or on disk by partitions of the hash of their partition columns.
#pragma once

#include <memory>

#include "exec/core/spillable_rows.h"
#include "exec/window/window_plan.h"
#include "spill/spilled_partitions.h"

namespace pistachio {

class WindowRows final : public SpillableRows {
 public:
  // `plan` outlives it.
  WindowRows(RunContext& context, const WindowPlan& plan, OperatorMetrics& metrics)
      : SpillableRows(context, context.memory.make_child("window"), plan.types, metrics), plan_(plan) {}

  // After close() without spilled rows.
  using SpillableRows::Pieces;
  using SpillableRows::take_pieces;
  // After close(), if rows were spilled. Without partition columns there is one.
  const SpilledPartitions& partitions() { return made_partitions(); }

 private:
  // They are put together by partition, and computed with.
  int64_t bytes_to_finish(int64_t bytes, int64_t rows) const override { return bytes + rows * plan_.bytes_per_row(); }
  Task<int64_t> write(Chunk rows) override;
  SpilledPartitions& made_partitions();

  const WindowPlan& plan_;
  std::unique_ptr<SpilledPartitions> partitions_;  // once rows were written
};

}  // namespace pistachio
