#include "exec/core/spillable_rows.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/lane_concatenation.h"

namespace pistachio {

namespace {

// Rows are added in parts of this many QuerySpill::batch_bytes(); each reserves its memory at once, an eighth of memory_limit.
constexpr int64_t kBatchesPerPart = 4;

// Nullopt if there is no memory for a copy.
std::optional<Chunk> try_copy(const Chunk& chunk) {
  try {
    return own_chunk(chunk);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

}  // namespace

SpillableRows::SpillableRows(RunContext& context, MemoryAccount account, std::vector<LogicalType> types, OperatorMetrics& metrics)
    : context_(context), account_(std::move(account)), types_(std::move(types)), metrics_(metrics) {}

Task<void> SpillableRows::add(Chunk chunk) {
  // A chunk of wide rows may not fit into memory as a whole; between its parts, earlier ones can be spilled.
  const int64_t bytes = chunk.memory_bytes();
  const int64_t parts = 1 + (bytes + bytes_to_finish(bytes, chunk.rows())) / (kBatchesPerPart * context_.spill.batch_bytes());
  const int64_t step = std::max<int64_t>(1, (chunk.rows() + parts - 1) / parts);
  for (int64_t begin = 0; begin < chunk.rows(); begin += step) {
    Task<void> adding = add_part(chunk.slice(begin, std::min(step, chunk.rows() - begin)));
    co_await adding;
  }
}

Task<void> SpillableRows::add_part(Chunk chunk) {
  std::optional<Chunk> copied = try_copy(chunk);
  if (!copied) {
    Task<void> relieving = context_.spill.relieve();
    co_await relieving;
    copied = own_chunk(chunk);
  }
  const Chunk own = std::move(*copied);
  chunk = {};
  int64_t bytes = own.memory_bytes();
  {
    std::lock_guard lock(mutex_);
    bytes += dictionaries_.add(own);
  }
  Task<Reservation> reserving = context_.spill.reserve(account_, bytes + bytes_to_finish(bytes, own.rows()));
  Reservation memory = co_await reserving;
  std::lock_guard lock(mutex_);
  reserved_bytes_ += memory.bytes();
  held_.push_back({own, std::move(memory), bytes});
  held_bytes_ += bytes;
  held_rows_ += own.rows();
}

std::vector<SpillableRows::Held> SpillableRows::take_held() {
  std::lock_guard lock(mutex_);
  return take_held_locked();
}

std::vector<SpillableRows::Held> SpillableRows::take_held_locked() {
  dictionaries_ = {};
  held_bytes_ = 0;
  held_rows_ = 0;
  reserved_bytes_ = 0;
  return std::exchange(held_, {});
}

Task<void> SpillableRows::reduce(int64_t most, std::function<at::Tensor(const Chunk& rows)> choose) {
  const TaskContext& task = co_await current_context();
  std::vector<Held> held;
  {
    std::lock_guard lock(mutex_);
    if (held_rows_ <= most) co_return;
    held = take_held_locked();
  }
  Chunk kept;
  {
    WorkTimer timer(metrics_);
    std::vector<Chunk> chunks;
    for (Held& part : held) chunks.push_back(std::exchange(part.rows, {}));
    const Chunk all = concatenate_chunks(chunks, types_, context_.device, task.token);
    chunks.clear();
    kept = own_chunk(take_rows(all, choose(all)));
  }
  held.clear();
  Task<void> adding = add(std::move(kept));
  co_await adding;
}

Task<void> SpillableRows::spill() {
  std::vector<Held> held = take_held();
  if (held.empty()) co_return;
  has_spilled_ = true;
  Task<void> writing = write_all(std::move(held));
  co_await writing;
}

Task<void> SpillableRows::write_all(std::vector<Held> held) {
  const int64_t most = bytes_per_write();
  for (size_t i = 0; i < held.size();) {
    std::vector<Chunk> chunks;
    std::vector<Reservation> memory;
    for (int64_t bytes = 0; i < held.size() && (chunks.empty() || bytes + held[i].bytes <= most); ++i) {
      bytes += held[i].bytes;
      chunks.push_back(std::exchange(held[i].rows, {}));
      memory.push_back(std::move(held[i].memory));
    }
    Task<Chunk> concatenating = concatenate_on_lanes(context_, std::move(chunks), types_, metrics_);
    const Chunk rows = co_await concatenating;
    // A single chunk may far exceed the limit.
    const int64_t bytes = rows.memory_bytes();
    const int64_t step = bytes <= most ? rows.rows() : std::max<int64_t>(1, rows.rows() * most / bytes);
    for (int64_t begin = 0; begin < rows.rows(); begin += step) {
      Task<int64_t> writing = write(rows.slice(begin, std::min(step, rows.rows() - begin)));
      metrics_.spilled += co_await writing;
    }
  }
}

Task<void> SpillableRows::close() {
  Task<QuerySpill::Turn> taking = context_.spill.take_turn();
  const QuerySpill::Turn turn = co_await taking;
  is_closed_ = true;
  if (context_.spill.is_forced() && reserved_bytes_ > 0) has_spilled_ = true;
  if (!has_spilled_) co_return;
  Task<void> spilling = spill();
  co_await spilling;
}

Task<void> SpillableRows::close_on_disk() {
  has_spilled_ = true;
  return close();
}

SpillableRows::Pieces SpillableRows::take_pieces() {
  Pieces pieces;
  for (Held& held : take_held()) {
    pieces.chunks.push_back(std::move(held.rows));
    held.memory.shrink_to(held.bytes);
    pieces.memory.push_back(std::move(held.memory));
  }
  return pieces;
}

Task<SpillableRows::Rows> SpillableRows::take_all() {
  // Pieces and result exist at the same time.
  const int64_t kept = bytes();
  Pieces pieces = take_pieces();
  Rows all;
  all.memory.push_back(account_.reserve_now(kept, ReservationKind::Held));
  Task<Chunk> concatenating = concatenate_on_lanes(context_, std::move(pieces.chunks), types_, metrics_);
  all.chunk = co_await concatenating;
  // Columns with different dictionaries are decoded, which makes the result larger than the pieces.
  if (const int64_t more = all.chunk.memory_bytes() - kept; more > 0) all.memory.push_back(account_.reserve_now(more, ReservationKind::Held));
  co_return all;
}

}  // namespace pistachio
