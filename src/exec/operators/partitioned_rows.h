// The retained rows of one join input: in memory, or on disk in partitions by the hash of their keys. Without keys there is one partition.
#pragma once

#include <memory>

#include "exec/core/spillable_rows.h"
#include "exec/operators/join_shape.h"
#include "expr/expression_evaluator.h"
#include "spill/spilled_partitions.h"

namespace pistachio {

// The left or right expressions of the join keys.
std::vector<ExpressionPtr> keys_of(const PhysicalJoin& join, ExpressionPtr JoinKey::*side);

// int64 [rows]: partitioning hashes; matching rows of both inputs have the same one.
at::Tensor partition_hashes(const ExpressionEvaluator& keys, const Chunk& rows, const CancelToken& token);

class PartitionedRows final : public SpillableRows {
 public:
  enum class Side { Left, Build };
  // `shape` outlives it.
  PartitionedRows(RunContext& context, const JoinShape& shape, Side side, OperatorMetrics& metrics);

  // Valid after close() if rows were spilled, and after close_on_disk().
  const SpilledPartitions& partitions();

 private:
  int64_t bytes_to_finish(int64_t bytes, int64_t rows) const override {
    return side_ == Side::Build ? shape_.bytes_of_table(bytes, rows) : 0;
  }
  Task<int64_t> write(Chunk rows) override;
  SpilledPartitions& made_partitions();

  const JoinShape& shape_;
  const Side side_;
  const ExpressionEvaluator keys_;
  std::unique_ptr<SpilledPartitions> partitions_;  // once rows were written
};

}  // namespace pistachio
