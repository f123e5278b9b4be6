// Rows in memory in radix partitions by the top bits of the hashes of their keys. Chunks are collected until they have enough rows, then
// copied once, in the order of their partitions: a partition is one range of rows of every batch. On a CPU. Not thread-safe while rows are
// added.
#pragma once

#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"

namespace pistachio {

class RadixRows {
 public:
  // Log2 of the number of partitions in which rows are stored; they can be read in fewer, larger ones.
  static constexpr int64_t kBits = 8;

  // The first `key_count` columns of rows are their keys. About `batch_bytes` are ordered at once, which takes several times as much
  // memory.
  RadixRows(size_t key_count, int64_t batch_bytes) : key_count_(key_count), batch_bytes_(batch_bytes) {}

  void add(const Chunk& rows, const CancelToken& token);
  // Orders the rows of the last batch; before rows are read.
  void close(const CancelToken& token);

  int64_t rows() const { return rows_; }
  int64_t memory_bytes() const { return bytes_; }

 private:
  friend Chunk partition_of(const std::vector<const RadixRows*>& stores, int64_t partition, int64_t bits, const CancelToken& token);

  // Rows ordered by partition, and where partitions start (int64 [2^kBits + 1]).
  struct Batch {
    Chunk rows;
    at::Tensor offsets;
  };

  size_t key_count_;
  int64_t batch_bytes_;
  std::vector<Chunk> waiting_;  // for the next batch
  int64_t waiting_rows_ = 0;
  int64_t waiting_bytes_ = 0;
  std::vector<Batch> batches_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

// The rows of partition `partition` of 2^bits (at most 2^kBits) of all stores, which are closed, as one chunk. Their columns have the same
// types.
Chunk partition_of(const std::vector<const RadixRows*>& stores, int64_t partition, int64_t bits, const CancelToken& token);

}  // namespace pistachio
