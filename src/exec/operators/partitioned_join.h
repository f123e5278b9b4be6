// A join whose build side does not fit into memory. Both inputs are on disk, partitioned by the hash of their keys, and are joined
// partition by partition. A partition whose build side is still too large is split again. If that does not help, because of a frequent key
// or because there are no keys, its build rows are processed in blocks, and the left rows are read once per block.
#pragma once

#include "exec/operators/join_probe.h"
#include "exec/operators/partitioned_rows.h"

namespace pistachio {

class PartitionedJoin {
 public:
  // All arguments outlive it.
  PartitionedJoin(const JoinShape& shape, RunContext& context, OperatorMetrics& metrics, ChunkSink& sink);

  Task<void> run(const SpilledPartitions& build, const SpilledPartitions& left);

 private:
  // Range of build side pieces that are in memory together.
  struct Block {
    size_t begin = 0;
    size_t end = 0;
  };

  Task<void> join(const SpilledChunks& build, const SpilledChunks& left, int level, int64_t rows_above);
  Task<void> split(const SpilledChunks& from, const ExpressionEvaluator& keys, SpilledPartitions& to);
  Task<void> join_by_blocks(const SpilledChunks& build, const SpilledChunks& left);
  Task<void> load(const SpilledChunks& from, Block block, BuildSide& to);
  Block next_block(const SpilledChunks& build, size_t begin) const;

  const JoinShape& shape_;
  RunContext& context_;
  OperatorMetrics& metrics_;
  ChunkSink& sink_;
  const MemoryAccount account_;
  const ExpressionEvaluator left_keys_;
  const ExpressionEvaluator build_keys_;
};

}  // namespace pistachio
