// Sink of operators that need all input rows at once: retains what arrives, separately per lane.
#pragma once

#include <functional>

#include "exec/core/held_chunks.h"
#include "exec/core/operator.h"

namespace pistachio {

class RowCollector : public ChunkSink {
 public:
  RowCollector(MemoryAccount account, int lanes);
  Task<void> consume(int lane, Chunk chunk) override;

  const MemoryAccount& account() const { return account_; }
  int64_t bytes() const;
  std::vector<HeldChunks>& lanes() { return lanes_; }

  // All rows as one chunk, with its reservations. Leaves the collector empty. Throws Cancelled soon after the token is cancelled.
  struct Rows {
    Chunk chunk;
    std::vector<Reservation> memory;
  };
  Rows take_all(const std::vector<LogicalType>& types, at::Device device, const CancelToken& token);

 protected:
  // The lane's rows that `choose` returns (int64).
  static Chunk chosen_rows(const HeldChunks& lane, const std::vector<LogicalType>& types, at::Device device, const CancelToken& token,
                           const std::function<at::Tensor(const Chunk&)>& choose);
  // Retains these rows of the lane only.
  void keep_only(HeldChunks& lane, const Chunk& kept);

  MemoryAccount account_;
  std::vector<HeldChunks> lanes_;
};

}  // namespace pistachio
