// Chunks that an operator retains: copied out of the scan's buffers and charged to the operator's memory account. Not thread-safe; use one per
// lane.
#pragma once

#include <set>
#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"
#include "memory/memory_account.h"
#include "memory/reservation.h"

namespace pistachio {

// A copy that shares nothing with a scan's buffers, except dictionaries as own_column() does.
Chunk own_chunk(const Chunk& chunk);

// Dictionaries that chunks share, each counted once. Not thread-safe.
class CountedDictionaries {
 public:
  // Bytes of the chunk's dictionaries that were not counted before.
  int64_t add(const Chunk& chunk);

 private:
  std::set<const void*> counted_;
};

class HeldChunks {
 public:
  explicit HeldChunks(MemoryAccount account) : account_(std::move(account)) {}

  // Copies the chunk, then reserves the size of the copy, which is not known before. Throws OutOfMemory when the account has no room.
  void add(const Chunk& chunk);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }
  // The chunks and their reservations.
  std::vector<Chunk> take_chunks() { return std::move(chunks_); }
  std::vector<Reservation> take_memory() { return std::move(memory_); }

 private:
  MemoryAccount account_;
  std::vector<Chunk> chunks_;
  std::vector<Reservation> memory_;
  CountedDictionaries dictionaries_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

// All chunks as one; `types` and `device` are needed if there are none. Throws Cancelled soon after the token is cancelled.
Chunk concatenate_chunks(const std::vector<Chunk>& chunks, const std::vector<LogicalType>& types, at::Device device,
                         const CancelToken& token = {});

}  // namespace pistachio
