// Rows of a window's input in memory, divided into buckets of whole partitions by the hash of their partition columns, so that lanes work on
// buckets at the same time. Rows are moved twice: within the pieces in which they arrived, then from all pieces to their bucket.
#pragma once

#include <vector>

#include "exec/core/operator.h"
#include "exec/window/window_rows.h"

namespace pistachio {

// Chunks end to end; they are released column by column. Text with several dictionaries stays coded where that is shorter.
Chunk join_pieces(std::vector<Chunk> pieces, const WindowPlan& plan, at::Device device, const CancelToken& token);

class WindowBuckets {
 public:
  // Both outlive it.
  WindowBuckets(RunContext& context, const WindowPlan& plan) : context_(context), plan_(plan) {}

  // On all lanes.
  Task<void> divide(WindowRows::Pieces pieces, OperatorMetrics& metrics);

  int64_t count() const { return int64_t{1} << bits_; }
  // Bytes that the rows of a bucket take when they are put together, at most about.
  int64_t bytes_of(int64_t bucket) const;
  int64_t rows_of(int64_t bucket) const;
  // Once for each bucket.
  Chunk take(int64_t bucket, const CancelToken& token);

 private:
  // Rows that are in the order of their buckets.
  struct Shard {
    Chunk rows;
    at::Tensor offsets;  // int64 [buckets + 1], on the host
    int64_t begin(int64_t bucket) const;
  };
  Shard make_shard(std::vector<Chunk> pieces, const CancelToken& token) const;

  RunContext& context_;
  const WindowPlan& plan_;
  int64_t bits_ = 0;
  std::vector<Shard> shards_;
  std::vector<Reservation> memory_;
};

}  // namespace pistachio
