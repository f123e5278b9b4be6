#include "exec/operators/spilled_groups.h"

#include <algorithm>

#include "columns/column_hash.h"
#include "exec/core/growing_reservation.h"
#include "exec/core/memory_relief.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/fitting_ranges.h"

namespace pistachio {

namespace {

// Kernels that merge states need copies of them in the order of their groups.
constexpr int64_t kCopiesOfRows = 4;

}  // namespace

SpilledGroups::SpilledGroups(RunContext& context, MemoryAccount account, std::vector<LogicalType> key_types, std::vector<AggregateCall> calls,
                             OperatorMetrics& metrics)
    : context_(context), account_(std::move(account)), key_types_(std::move(key_types)), calls_(std::move(calls)), metrics_(metrics) {
  for (size_t call = 0; call < calls_.size(); ++call) all_calls_.push_back(call);
}

SpilledPartitions& SpilledGroups::part_of(Parts& parts, const std::vector<size_t>& calls, int64_t bits, int level) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.calls == calls; });
  if (found != parts.end()) return *found->rows;
  parts.push_back({calls, std::make_unique<SpilledPartitions>(context_.spill.make_file(), bits, level)});
  return *parts.back().rows;
}

at::Tensor SpilledGroups::hashes_of(const Chunk& rows, const CancelToken& token) const {
  if (key_types_.empty()) return at::zeros({rows.rows()}, context_.tensors_of(at::kLong));
  return hash_rows({rows.columns().begin(), rows.columns().begin() + static_cast<std::ptrdiff_t>(key_types_.size())}, token);
}

Task<void> SpilledGroups::add(const GroupStates& groups, std::vector<size_t> calls) {
  Task<void> writing = write(groups, calls, part_of(parts_, calls, SpilledPartitions::kFirstBits, 0));
  co_await writing;
}

Task<void> SpilledGroups::add(Chunk rows, std::vector<size_t> calls) {
  const TaskContext& task = co_await current_context();
  const SpilledPartitions::Hash hash = [&](const Chunk& part) { return hashes_of(part, task.token); };
  Task<int64_t> writing = part_of(parts_, calls, SpilledPartitions::kFirstBits, 0).add(std::move(rows), hash);
  metrics_.spilled += co_await writing;
}

Task<void> SpilledGroups::write(const GroupStates& groups, const std::vector<size_t>& calls, SpilledPartitions& to) {
  const TaskContext& task = co_await current_context();
  const int64_t bytes_per_group = groups.memory_bytes() / std::max<int64_t>(1, groups.groups()) + 1;
  const int64_t step = std::max<int64_t>(1, context_.spill.batch_bytes() / bytes_per_group);
  auto take = [&](int64_t begin, int64_t count) { return groups.rows_of(begin, count, calls); };
  const SpilledPartitions::Hash hash = [&](const Chunk& part) { return hashes_of(part, task.token); };
  FittingRanges ranges(groups.groups(), step);
  while (!ranges.is_done()) {
    std::optional<Chunk> rows = ranges.try_next(take);
    if (!rows) continue;
    Task<int64_t> writing = to.add(std::move(*rows), hash);
    metrics_.spilled += co_await writing;
  }
}

Task<void> SpilledGroups::merge(const Emit& emit) {
  auto merge_one = [&](int lane, int64_t partition) -> Task<void> {
    return merge_partition(lane, parts_, static_cast<size_t>(partition), 1, emit);
  };
  Task<void> all = for_each_lane(context_, int64_t{1} << SpilledPartitions::kFirstBits, merge_one);
  co_await all;
}

Task<void> SpilledGroups::merge_partition(int lane, const Parts& parts, size_t partition, int level, const Emit& emit) {
  const TaskContext& task = co_await current_context();
  GroupStates groups(key_types_, calls_, context_.device);
  GrowingReservation memory(account_);
  for (size_t part = 0; part < parts.size(); ++part) {
    const SpilledChunks& rows = parts[part].rows->at(partition);
    for (size_t piece = 0; piece < rows.pieces().size(); ++piece) {
      const int64_t more = groups.most_bytes_with(rows.pieces()[piece].rows) - memory.covered() + rows.pieces()[piece].bytes();
      Task<Reservation> reserving = context_.spill.try_reserve(account_, std::max<int64_t>(0, more));
      Reservation ahead = co_await reserving;
      const bool fits = ahead.bytes() >= more && (!context_.spill.is_forced() || context_.spill.fits(more)) &&
                        finds_free_memory(context_, more + kCopiesOfRows * rows.pieces()[piece].bytes());
      if (groups.groups() > 0 && level <= SpilledPartitions::kMaxLevels && !fits) {
        ahead.release();
        Parts split_parts;
        Task<void> splitting = split(groups, parts, partition, part, piece, split_parts, level);
        co_await splitting;
        groups = GroupStates(key_types_, calls_, context_.device);
        memory = GrowingReservation(account_);
        for (size_t i = 0; i < size_t{1} << SpilledPartitions::kBitsPerLevel; ++i) {
          Task<void> merging = merge_partition(lane, split_parts, i, level + 1, emit);
          co_await merging;
        }
        co_return;
      }
      Task<Chunk> reading = rows.read(piece, context_.device);
      const Chunk chunk = co_await reading;
      rows.release(piece);
      WorkTimer timer(metrics_);
      memory.add(std::move(ahead));
      groups.merge(chunk, parts[part].calls, task.token);
      memory.cover(groups.memory_bytes());
      memory.trim_to(groups.memory_bytes());
    }
  }
  if (groups.groups() == 0) co_return;
  Task<void> emitting = emit(lane, groups);
  co_await emitting;
}

Task<void> SpilledGroups::split(const GroupStates& merged, const Parts& parts, size_t partition, size_t part, size_t piece, Parts& to,
                                int level) {
  const TaskContext& task = co_await current_context();
  Task<void> writing = write(merged, all_calls_, part_of(to, all_calls_, SpilledPartitions::kBitsPerLevel, level));
  co_await writing;
  for (; part < parts.size(); ++part, piece = 0) {
    const SpilledChunks& rows = parts[part].rows->at(partition);
    SpilledPartitions& target = part_of(to, parts[part].calls, SpilledPartitions::kBitsPerLevel, level);
    for (; piece < rows.pieces().size(); ++piece) {
      Task<Chunk> reading = rows.read(piece, context_.device);
      Chunk chunk = co_await reading;
      rows.release(piece);
      const SpilledPartitions::Hash hash = [&](const Chunk& rows_of_part) { return hashes_of(rows_of_part, task.token); };
      Task<int64_t> adding = target.add(std::move(chunk), hash);
      metrics_.spilled += co_await adding;
    }
  }
}

}  // namespace pistachio
