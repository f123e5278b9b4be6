#include "exec/core/spillable_rows.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/lane_concatenation.h"
#include "exec/core/memory_relief.h"

namespace pistachio {

namespace {

// Rows are added in parts of this many QuerySpill::batch_bytes(); each reserves its memory at once, an eighth of memory_limit.
constexpr int64_t kBatchesPerPart = 4;

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
  auto copy = [&] { return own_chunk(chunk); };
  Task<Chunk> copying = with_relief(context_, copy);
  const Chunk own = co_await copying;
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
  size_t pieces = held.size();  // at most, at a time
  for (size_t begin = 0; begin < held.size();) {
    size_t end = begin;
    for (int64_t bytes = 0; end < held.size() && end - begin < pieces && (end == begin || bytes + held[end].bytes <= most); ++end)
      bytes += held[end].bytes;
    int64_t count = 0;
    for (size_t i = begin; i < end; ++i) count += held[i].rows.rows();
    const bool on_lanes = context_.needs_all_lanes(count);  // which free each piece once it is copied
    std::vector<Chunk> chunks;
    for (size_t i = begin; i < end; ++i) chunks.push_back(on_lanes ? std::exchange(held[i].rows, {}) : held[i].rows);
    std::optional<Chunk> rows;
    try {
      Task<Chunk> concatenating = concatenate_on_lanes(context_, std::move(chunks), types_, metrics_);
      rows = co_await concatenating;
    } catch (const OutOfMemory&) {
      if (end - begin == 1 || on_lanes) throw;  // a single piece is not copied
      pieces = (end - begin) / 2;
    }
    if (!rows) continue;
    for (size_t i = begin; i < end; ++i) held[i].rows = {};
    Task<void> writing = write_in_steps(std::move(*rows), most);
    co_await writing;
    for (; begin < end; ++begin) held[begin].memory.release();
  }
}

Task<void> SpillableRows::write_in_steps(Chunk rows, int64_t most) {
  // A single chunk may far exceed the limit.
  const int64_t bytes = rows.memory_bytes();
  const int64_t step = bytes <= most ? rows.rows() : std::max<int64_t>(1, rows.rows() * most / bytes);
  for (int64_t begin = 0; begin < rows.rows(); begin += step) {
    Task<int64_t> writing = write(rows.slice(begin, std::min(step, rows.rows() - begin)));
    metrics_.spilled += co_await writing;
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

Task<std::optional<SpillableRows::Rows>> SpillableRows::take_all() {
  const int64_t kept = bytes();
  const bool on_lanes = context_.needs_all_lanes(rows());
  release_finish_reserve();
  Rows all;
  bool fits = true;
  try {
    // Pieces and result exist at the same time.
    all.memory.push_back(account_.reserve_now(kept, ReservationKind::Held));
    Task<Chunk> concatenating = on_lanes ? take_on_lanes() : concatenate_held();
    all.chunk = co_await concatenating;
    // Columns with different dictionaries are decoded, which makes the result larger than the pieces.
    if (const int64_t more = all.chunk.memory_bytes() - kept; more > 0)
      all.memory.push_back(account_.reserve_now(more, ReservationKind::Held));
  } catch (const OutOfMemory&) {
    if (!context_.spill.is_allowed() || held_rows_ == 0) throw;
    fits = false;
  }
  if (!fits) co_return std::nullopt;
  take_held();
  co_return all;
}

// Callers reserve what they need from now on.
void SpillableRows::release_finish_reserve() {
  std::lock_guard lock(mutex_);
  for (Held& held : held_) held.memory.shrink_to(held.bytes);
  reserved_bytes_ = held_bytes_.load();
}

// Lanes free each piece once it is copied.
Task<Chunk> SpillableRows::take_on_lanes() {
  Pieces pieces = take_pieces();
  Task<Chunk> concatenating = concatenate_on_lanes(context_, std::move(pieces.chunks), types_, metrics_);
  Chunk all = co_await concatenating;
  co_return all;
}

Task<Chunk> SpillableRows::concatenate_held() {
  const TaskContext& task = co_await current_context();
  std::vector<Chunk> chunks;
  {
    std::lock_guard lock(mutex_);
    for (const Held& held : held_) chunks.push_back(held.rows);
  }
  auto concatenate = [&] {
    WorkTimer timer(metrics_);
    return concatenate_chunks(chunks, types_, context_.device, task.token);
  };
  Task<Chunk> concatenating = with_relief(context_, concatenate);
  Chunk all = co_await concatenating;
  co_return all;
}

Task<void> SpillableRows::spill_unconditionally(Rows rows) {
  Task<QuerySpill::Turn> taking = context_.spill.take_turn();
  const QuerySpill::Turn turn = co_await taking;
  has_spilled_ = true;
  // Smaller pieces than otherwise: there was no memory for all rows at once.
  Task<void> writing = rows.chunk.rows() > 0 ? write_in_steps(std::move(rows.chunk), context_.spill.batch_bytes()) : write_all(take_held());
  co_await writing;
}

}  // namespace pistachio
