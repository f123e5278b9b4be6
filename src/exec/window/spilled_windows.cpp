#include "exec/window/spilled_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "exec/core/memory_relief.h"
#include "exec/window/window_buckets.h"
#include "exec/window/window_operator.h"

namespace pistachio {

namespace {

// A partition of the hash with more than this share of the rows above it is not split again: one window partition has most of them.
constexpr double kFrequentShare = 0.8;

}  // namespace

int64_t SpilledWindows::bytes_to_compute(const SpilledChunks& rows) const {
  // As pieces, and put together.
  return 2 * rows.bytes() + rows.rows() * plan_.bytes_per_row();
}

Task<void> SpilledWindows::run(const SpilledPartitions& partitions) {
  std::mutex mutex;
  std::vector<size_t> later;  // guarded by mutex
  int64_t all_rows = 0;
  for (size_t i = 0; i < partitions.count(); ++i) all_rows += partitions.at(i).rows();
  auto compute_one = [&](int lane, int64_t number) -> Task<void> {
    const SpilledChunks& rows = partitions.at(static_cast<size_t>(number));
    if (rows.rows() == 0 || sink_.is_full()) co_return;
    const int64_t wanted = bytes_to_compute(rows);
    Task<Reservation> reserving = context_.spill.try_reserve(account_, wanted);
    Reservation memory = co_await reserving;
    if (memory.bytes() < wanted || (context_.spill.is_forced() && !context_.spill.fits(wanted))) {
      std::lock_guard lock(mutex);
      later.push_back(static_cast<size_t>(number));
      co_return;
    }
    Task<void> computing = compute(lane, rows, std::move(memory));
    co_await computing;
  };
  Task<void> all = for_each_lane(context_, static_cast<int64_t>(partitions.count()), compute_one);
  co_await all;
  for (size_t number : later) {
    if (sink_.is_full()) co_return;
    Task<void> computing = compute_alone(partitions.at(number), 1, all_rows);
    co_await computing;
  }
}

Task<void> SpilledWindows::compute_alone(const SpilledChunks& rows, int level, int64_t rows_above) {
  if (rows.rows() == 0) co_return;
  const bool is_frequent = static_cast<double>(rows.rows()) > kFrequentShare * static_cast<double>(rows_above);
  const int64_t wanted = bytes_to_compute(rows);
  Task<void> making = context_.spill.make_room(wanted);
  co_await making;
  if (context_.spill.fits(wanted) || plan_.partition.empty() || level > SpilledPartitions::kMaxLevels || (is_frequent && level > 1)) {
    Reservation memory;
    try {
      memory = account_.reserve_now(wanted, ReservationKind::Held);
    } catch (const OutOfMemory& error) {
      throw OutOfMemory(fmt::format("{} (window functions keep the rows of a partition in memory: the largest has up to {} rows)",
                                    error.message(), rows.rows()));
    }
    Task<void> computing = compute(0, rows, std::move(memory));
    co_await computing;
    co_return;
  }
  SpilledPartitions parts(context_.spill.make_file(), SpilledPartitions::kBitsPerLevel, level);
  Task<void> splitting = split(rows, parts);
  co_await splitting;
  for (size_t i = 0; i < parts.count() && !sink_.is_full(); ++i) {
    Task<void> computing = compute_alone(parts.at(i), level + 1, rows.rows());
    co_await computing;
  }
}

Task<void> SpilledWindows::split(const SpilledChunks& from, SpilledPartitions& to) {
  const TaskContext& task = co_await current_context();
  auto split_piece = [&](int, int64_t number) -> Task<void> {
    const auto piece = static_cast<size_t>(number);
    Task<Chunk> reading = from.read(piece, context_.device);
    Chunk rows = co_await reading;
    from.release(piece);
    const SpilledPartitions::Hash hash = [&](const Chunk& part) { return plan_.partition_hashes(part, task.token); };
    Task<int64_t> writing = to.add(std::move(rows), hash);
    metrics_.spilled += co_await writing;
  };
  Task<void> all = for_each_lane(context_, static_cast<int64_t>(from.pieces().size()), split_piece);
  co_await all;
}

Task<void> SpilledWindows::compute(int lane, const SpilledChunks& rows, Reservation memory) {
  const TaskContext& task = co_await current_context();
  std::vector<Chunk> pieces;
  for (size_t i = 0; i < rows.pieces().size(); ++i) {
    Task<Chunk> reading = rows.read(i, context_.device);
    Chunk piece = co_await reading;
    pieces.push_back(std::move(piece));
    rows.release(i);
  }
  Task<void> preparing = prepare_memory(context_, rows.bytes());
  co_await preparing;
  Chunk all;
  {
    WorkTimer timer(metrics_);
    all = join_pieces(std::exchange(pieces, {}), plan_, context_.device, task.token);
  }
  memory.shrink_to(memory.bytes() - rows.bytes());
  Task<void> emitting = emit_window(context_, plan_, all, lane, metrics_, sink_);
  co_await emitting;
}

}  // namespace pistachio
