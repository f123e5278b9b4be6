#include "exec/operators/spillable_groups.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/memory_relief.h"

namespace pistachio {

namespace {

// Kernels that add rows to groups need copies of the rows in the order of their groups, and words to sort them by.
constexpr int64_t kCopiesOfValues = 3;
constexpr int64_t kWordBytesPerRow = 96;
constexpr int64_t kMinRowsPerCall = 4096;

int64_t bytes_of_temporaries(const std::vector<Column>& columns, int64_t rows) {
  int64_t bytes = rows * kWordBytesPerRow;
  for (const Column& column : columns) bytes += kCopiesOfValues * column.memory_bytes();
  return bytes;
}

}  // namespace

SpillableGroups::SpillableGroups(RunContext& context, GroupingPlan plan, OperatorMetrics& metrics)
    : context_(context),
      account_(context.memory.make_child("aggregate")),
      plan_(std::move(plan)),
      metrics_(metrics),
      spilled_(context, account_, plan_.key_types, plan_.calls, metrics) {
  for (int lane = 0; lane < context.lanes; ++lane) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->groups = make_groups();
  }
  for (size_t call = 0; call < plan_.calls.size(); ++call) {
    std::unique_ptr<SpilledGroups>& members = distinct_.emplace_back();
    if (!plan_.calls[call].distinct) {
      plain_calls_.push_back(call);
      continue;
    }
    std::vector<LogicalType> types = plan_.key_types;
    types.push_back(argument_type(plan_.calls[call]));
    members = std::make_unique<SpilledGroups>(context, account_, std::move(types), std::vector<AggregateCall>{}, metrics);
  }
}

std::unique_ptr<GroupLane> SpillableGroups::make_groups() const {
  return std::make_unique<GroupLane>(plan_, account_);
}

bool SpillableGroups::has_room_for(int lane, int64_t rows) const {
  const Lane& own = *lanes_[static_cast<size_t>(lane)];
  return own.groups->is_empty() || context_.spill.fits(own.groups->most_further_bytes(rows));
}

std::unique_ptr<GroupLane> SpillableGroups::take(int lane) {
  Lane& own = *lanes_[static_cast<size_t>(lane)];
  own.bytes = 0;
  return std::exchange(own.groups, make_groups());
}

Task<void> SpillableGroups::add(int lane, std::vector<Column> columns, int64_t rows) {
  const TaskContext& task = co_await current_context();
  Lane& own = *lanes_[static_cast<size_t>(lane)];
  Reservation ahead;
  std::exception_ptr lost;
  auto add_some = [&](int64_t begin, int64_t count) {
    std::vector<Column> some;
    for (const Column& column : columns) some.push_back(count == rows ? column : column.slice(begin, count));
    lost = add_now(own, some, count, std::exchange(ahead, {}), task.token);
    return true;
  };
  // So few rows that the temporaries of all lanes fit beside what is retained.
  const int64_t share = context_.spill.temporary_bytes() / (2 * context_.lanes);
  const int64_t parts = 1 + bytes_of_temporaries(columns, rows) / std::max<int64_t>(1, share);
  FittingRanges ranges(rows, std::max(kMinRowsPerCall, rows / parts + 1));
  while (!ranges.is_done()) {
    int64_t more = 0;
    {
      std::lock_guard lock(own.mutex);
      more = own.groups->most_further_bytes(ranges.next_rows());
    }
    Task<Reservation> reserving = context_.spill.try_reserve(account_, more);
    ahead = co_await reserving;
    const std::optional<bool> added = ranges.try_next(add_some);
    if (lost) std::rethrow_exception(lost);
    if (added) continue;
    Task<void> relieving = context_.spill.relieve();
    co_await relieving;
    // Rows can be added to an empty lane again and again.
    Task<void> spilling = spill_lane(own);
    co_await spilling;
  }
}

// Has no effect if it throws OutOfMemory. The tables of a lane cannot be rolled back: rows are only added to them once there seems to be
// enough memory. Returns the error if there was not, and the groups are lost.
std::exception_ptr SpillableGroups::add_now(Lane& lane, const std::vector<Column>& columns, int64_t rows, Reservation ahead,
                                            const CancelToken& token) {
  WorkTimer timer(metrics_);
  std::lock_guard lock(lane.mutex);
  const bool was_empty = lane.groups->is_empty();
  if (!was_empty) {
    if (context_.spill.is_allowed())
      ensure_free_memory(context_, lane.groups->most_further_bytes(rows) + bytes_of_temporaries(columns, rows));
    RefusableAllocations::end();
  }
  if (was_empty) {
    // Into new tables, which are dropped if it fails.
    std::unique_ptr<GroupLane> groups = make_groups();
    groups->add(columns, rows, std::move(ahead), token);
    lane.groups = std::move(groups);
  } else {
    try {
      lane.groups->add(columns, rows, std::move(ahead), token);
    } catch (const OutOfMemory&) {
      return std::current_exception();
    }
  }
  lane.bytes = lane.groups->reserved_bytes();
  return nullptr;
}

Task<void> SpillableGroups::spill_lane(Lane& lane) {
  if (!context_.spill.is_allowed()) co_return;
  Task<QuerySpill::Turn> taking = context_.spill.take_turn();
  const QuerySpill::Turn turn = co_await taking;
  std::unique_ptr<GroupLane> groups = try_take(lane);
  if (!groups) co_return;
  Task<void> writing = write(std::move(groups));
  co_await writing;
}

int64_t SpillableGroups::bytes() const {
  int64_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->bytes;
  return bytes;
}

int64_t SpillableGroups::spillable_bytes() const {
  return is_closed_ ? 0 : bytes();
}

std::unique_ptr<GroupLane> SpillableGroups::try_take(Lane& lane) {
  std::unique_lock lock(lane.mutex, std::try_to_lock);
  if (!lock.owns_lock() || lane.groups->is_empty()) return nullptr;
  std::unique_ptr<GroupLane> taken = std::exchange(lane.groups, make_groups());
  lane.bytes = 0;
  return taken;
}

Task<void> SpillableGroups::spill() {
  for (const auto& lane : lanes_) {
    std::unique_ptr<GroupLane> groups = try_take(*lane);
    if (!groups) continue;
    Task<void> writing = write(std::move(groups));
    co_await writing;
  }
}

Task<void> SpillableGroups::write(std::unique_ptr<GroupLane> lane) {
  const TaskContext& task = co_await current_context();
  if (!lane->has_passed_on()) {
    Task<void> writing = write_table(lane->table());
    co_await writing;
    co_return;
  }
  lane->close(task.token);
  const std::vector<const GroupLane*> only_this = {lane.get()};
  const int64_t bits = radix_bits(plan_, only_this);
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition) {
    const LaneGroups merged = group_partition(plan_, only_this, partition, bits, task.token);
    Task<void> writing = write_table(merged);
    co_await writing;
  }
}

Task<void> SpillableGroups::write_table(const LaneGroups& groups) {
  Task<void> adding = spilled_.add(groups.group_states(), plain_calls_);
  co_await adding;
  const std::vector<Column> keys = groups.keys();
  const int64_t step = context_.chunk_rows();
  for (size_t call = 0; call < plan_.calls.size(); ++call) {
    if (groups.distinct(call) == nullptr) continue;
    const std::vector<Column> members = groups.distinct(call)->keys();
    for (int64_t begin = 0; begin < members[0].rows(); begin += step) {
      const int64_t count = std::min(step, members[0].rows() - begin);
      std::vector<Column> columns;
      for (const Column& key : keys) columns.push_back(take_rows(key, members[0].slice(begin, count).values()));
      columns.push_back(members[1].slice(begin, count));
      Chunk rows(std::move(columns), count, context_.device);
      Task<void> writing = distinct_[call]->add(std::move(rows), std::vector<size_t>());
      co_await writing;
    }
  }
}

Task<void> SpillableGroups::close() {
  Task<QuerySpill::Turn> taking = context_.spill.take_turn();
  const QuerySpill::Turn turn = co_await taking;
  is_closed_ = true;
  if (!has_spilled() && !context_.spill.is_forced()) co_return;
  Task<void> spilling = spill();
  co_await spilling;
}

std::vector<std::unique_ptr<GroupLane>> SpillableGroups::take_lanes() {
  std::vector<std::unique_ptr<GroupLane>> taken;
  for (const auto& lane : lanes_) {
    if (!lane->groups->is_empty()) taken.push_back(std::move(lane->groups));
  }
  return taken;
}

Task<void> SpillableGroups::spill_unconditionally(std::vector<std::unique_ptr<GroupLane>> lanes) {
  Task<QuerySpill::Turn> taking = context_.spill.take_turn();
  const QuerySpill::Turn turn = co_await taking;
  for (std::unique_ptr<GroupLane>& lane : lanes) {
    Task<void> writing = write(std::move(lane));
    co_await writing;
  }
}

Task<void> SpillableGroups::merge_spilled(const SpilledGroups::Emit& emit) {
  for (size_t call = 0; call < plan_.calls.size(); ++call) {
    if (distinct_[call] == nullptr) continue;
    const SpilledGroups::Emit count = [&](int, const GroupStates& members) { return count_distinct(call, members); };
    Task<void> counting = distinct_[call]->merge(count);
    co_await counting;
  }
  Task<void> merging = spilled_.merge(emit);
  co_await merging;
}

Task<void> SpillableGroups::count_distinct(size_t call, const GroupStates& members) {
  const TaskContext& task = co_await current_context();
  std::vector<Column> keys = members.keys();
  const Column argument = keys.back();
  keys.pop_back();
  auto count = [&] {
    GroupStates counted(plan_.key_types, plan_.calls, context_.device);
    const at::Tensor ids = counted.assign(keys, members.groups(), task.token);
    counted.states()[call]->update({.ids = ids, .argument = &argument});
    return counted;
  };
  Task<GroupStates> counting = with_relief(context_, count);
  const GroupStates groups = co_await counting;
  GrowingReservation memory(account_);
  memory.cover(groups.memory_bytes());
  const std::vector<size_t> only_this = {call};
  Task<void> adding = spilled_.add(groups, only_this);
  co_await adding;
}

}  // namespace pistachio
