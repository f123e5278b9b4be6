#include "exec/core/row_collector.h"

#include "columns/row_selection.h"

namespace pistachio {

RowCollector::RowCollector(MemoryAccount account, int lanes) : account_(std::move(account)) {
  for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back(account_);
}

Task<void> RowCollector::consume(int lane, Chunk chunk) {
  lanes_[static_cast<size_t>(lane)].add(chunk);
  co_return;
}

int64_t RowCollector::bytes() const {
  int64_t bytes = 0;
  for (const HeldChunks& lane : lanes_) bytes += lane.bytes();
  return bytes;
}

Chunk RowCollector::chosen_rows(const HeldChunks& lane, const std::vector<LogicalType>& types, at::Device device, const CancelToken& token,
                                const std::function<at::Tensor(const Chunk&)>& choose) {
  const Chunk all = concatenate_chunks(lane.chunks(), types, device, token);
  return take_rows(all, choose(all));
}

void RowCollector::keep_only(HeldChunks& lane, const Chunk& kept) {
  lane = HeldChunks(account_);
  lane.add(kept);
}

RowCollector::Rows RowCollector::take_all(const std::vector<LogicalType>& types, at::Device device, const CancelToken& token) {
  // Pieces and result exist at the same time.
  int64_t kept = bytes();
  std::vector<Reservation> memory;
  memory.push_back(account_.reserve_now(kept, ReservationKind::Held));
  std::vector<Chunk> chunks;
  for (HeldChunks& lane : lanes_) chunks.insert(chunks.end(), lane.chunks().begin(), lane.chunks().end());
  Rows rows{concatenate_chunks(chunks, types, device, token), std::move(memory)};
  // Columns with different dictionaries are decoded, which makes the result larger than the pieces.
  int64_t more = rows.chunk.memory_bytes() - kept;
  if (more > 0) rows.memory.push_back(account_.reserve_now(more, ReservationKind::Held));
  for (HeldChunks& lane : lanes_) lane = HeldChunks(account_);
  return rows;
}

}  // namespace pistachio
