// Retained rows of a sort: in memory, or on disk as sorted runs. With a limit only the best rows of those added are kept.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exec/core/merge_bounds.h"
#include "exec/core/row_order.h"
#include "exec/core/spillable_rows.h"
#include "spill/spilled_chunks.h"

namespace pistachio {

class SortableRows final : public SpillableRows {
 public:
  // `order` outlives it. `limit`: the number of rows, in sorted order, that are needed.
  SortableRows(RunContext& context, const RowOrder& order, std::optional<int64_t> limit, std::vector<LogicalType> types,
               OperatorMetrics& metrics);

  // Any lane, after add(): with a limit, drops rows that are not among the first ones, once there are enough of them.
  Task<void> keep_best();
  // After close(), if rows were spilled: passes them on in order. If there are too many runs for one merge, merges them into longer ones
  // first.
  Task<void> merge(ChunkSink& sink);

 private:
  struct Run {
    std::unique_ptr<SpilledChunks> rows;
    Chunk lasts;  // the keys of the last rows of its pieces, in host memory; empty unless has_bounds_
  };
  class RunWriter;
  // False if no more last keys are kept.
  bool may_keep_last(const Chunk& key);
  class FirstRows;

  // The rows are concatenated, and have sort words.
  int64_t bytes_to_finish(int64_t bytes, int64_t rows) const override { return bytes + rows * order_.bytes_per_row(); }
  // Writes all rows at once: longer runs mean fewer runs to merge.
  int64_t bytes_per_write() const override { return INT64_MAX; }
  Task<int64_t> write(Chunk rows) override;
  // `order`: of the rows; undefined: they are sorted on all lanes.
  Task<int64_t> write_run(const Chunk& rows, at::Tensor order);
  int64_t bytes_per_piece() const;
  size_t runs_per_merge() const;
  // What the rows of a round of a merge may take now.
  int64_t bytes_per_round() const;
  std::vector<LogicalType> key_types() const;
  int64_t bytes_of_words() const;  // of a row
  MergeBounds bounds_of(const std::vector<Run>& runs, const CancelToken& token) const;
  // `metrics`: counts the rows passed on.
  Task<void> merge(const std::vector<Run>& runs, OperatorMetrics& metrics, ChunkSink& sink);

  const RowOrder& order_;
  const std::optional<int64_t> limit_;
  OperatorMetrics& metrics_;
  std::shared_ptr<SpillFile> file_;  // once rows were written
  std::vector<Run> runs_;
  // Whether the last keys of all pieces are kept; not if they are so long that they would take much memory.
  bool has_bounds_ = true;
  int64_t lasts_bytes_ = 0;
};

}  // namespace pistachio
