#include "spill/query_spill.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace pistachio {

namespace {

constexpr int kAttempts = 4;
// A batch on a GPU is divided into partitions by a few kernel calls, which small batches would not be worth.
constexpr int64_t kMaxBatch = 32 << 20;
constexpr int64_t kMaxBatchOfDevice = 256 << 20;
// With spill=always: a store spills at every kRequestsPerSpill-th request for memory, and of the spilled rows kFewBytes fit into memory, or
// a kForcedShare-th of them: with less, the left rows of a join by blocks would be read too many times.
constexpr int64_t kRequestsPerSpill = 2;
constexpr int64_t kFewBytes = 4 << 10;
constexpr int64_t kForcedShare = 64;
// Room for scans and for rows of other operators beside what cannot be spilled, if that is less than half of what all may retain.
constexpr int64_t kRoomForOthers = 256 << 20;

}  // namespace

QuerySpill::QuerySpill(SpillSpace& space, const MemoryGovernor& governor, const Settings& settings, SpillTiers tiers)
    : space_(space),
      governor_(governor),
      mode_(settings.spill),
      limits_{settings.temp_directory, settings.max_temp_size},
      tiers_(std::move(tiers)),
      memory_limit_(static_cast<int64_t>(static_cast<double>(governor.limit()) * tiers_.retained_share)),
      batch_bytes_(std::clamp<int64_t>(governor.limit() / 32, 256 << 10, tiers_.host_memory ? kMaxBatchOfDevice : kMaxBatch)),
      least_bytes_(mode_ == SpillMode::Always ? 1 : batch_bytes_ / 4) {
  turn_.push(0, 1);
}

void QuerySpill::add(std::weak_ptr<SpillableStore> store) {
  std::lock_guard lock(mutex_);
  std::erase_if(stores_, [](const std::weak_ptr<SpillableStore>& known) { return known.expired(); });
  stores_.push_back(std::move(store));
}

std::shared_ptr<SpillableStore> QuerySpill::largest_store() {
  std::vector<std::shared_ptr<SpillableStore>> alive;  // outlives the lock: releasing the last owner of a store frees memory
  std::shared_ptr<SpillableStore> largest;
  std::lock_guard lock(mutex_);
  int64_t most = least_bytes_ - 1;
  for (const std::weak_ptr<SpillableStore>& known : stores_) {
    std::shared_ptr<SpillableStore> store = known.lock();
    if (!store) continue;
    if (const int64_t bytes = store->spillable_bytes(); bytes > most) {
      most = bytes;
      largest = store;
    }
    alive.push_back(std::move(store));
  }
  return largest;
}

bool QuerySpill::has_room(int64_t bytes) const {
  return governor_.used() + bytes <= memory_limit_;
}

bool QuerySpill::fits(int64_t bytes) const {
  if (mode_ != SpillMode::Always) return has_room(bytes);
  const int64_t spilled = space_.bytes() + (tiers_.host_memory ? tiers_.host_memory->used() : 0);
  int64_t most = most_spilled_;
  while (spilled > most && !most_spilled_.compare_exchange_weak(most, spilled)) {
  }
  return bytes <= std::max(kFewBytes, std::max(most, spilled) / kForcedShare);
}

bool QuerySpill::may_keep(int64_t bytes) const {
  return mode_ == SpillMode::Off || has_room(bytes + std::min(memory_limit_ / 2, kRoomForOthers));
}

bool QuerySpill::must_spill() {
  if (mode_ != SpillMode::Always) return false;
  std::lock_guard lock(mutex_);
  return ++calls_ % kRequestsPerSpill == 0;
}

Task<void> QuerySpill::make_room(int64_t bytes) {
  return spill_until(bytes, must_spill());
}

Task<void> QuerySpill::relieve() {
  return spill_until(0, true);
}

Task<void> QuerySpill::spill_until(int64_t bytes, bool must) {
  if (mode_ == SpillMode::Off || (!must && has_room(bytes))) co_return;
  const int64_t seen = freed_;
  // One task at a time: a second one would find little left to spill and had better wait for the first.
  Task<Turn> taking = take_turn();
  const Turn turn = co_await taking;
  // What another task spilled meanwhile may be enough for this one too.
  if (freed_ != seen && mode_ != SpillMode::Always) must = false;
  while (must || !has_room(bytes)) {
    must = false;
    const std::shared_ptr<SpillableStore> store = largest_store();
    if (!store) co_return;
    const int64_t before = governor_.used();
    std::optional<std::string> failure;
    try {
      Task<void> spilling = store->spill();
      co_await spilling;
    } catch (const OutOfMemory& problem) {
      failure = problem.message();
    }
    // The rows of another operator are lost. Callers recover from an OutOfMemory of their own work: this must not look like one.
    if (failure) throw UserError(*failure);
    // The store released nothing, perhaps because its lanes are using its memory: gives up instead of looping.
    if (governor_.used() >= before) co_return;
    ++freed_;
  }
}

Task<Reservation> QuerySpill::try_reserve(MemoryAccount account, int64_t bytes) {
  // Retries because other tasks may take the memory that was freed: scans read ahead into all of it.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Task<void> making = make_room(bytes);
    co_await making;
    if (mode_ != SpillMode::Off && !has_room(bytes)) break;
    if (std::optional<Reservation> made = account.try_reserve_now(bytes, ReservationKind::Held)) co_return std::move(*made);
  }
  co_return Reservation();
}

Task<Reservation> QuerySpill::reserve(MemoryAccount account, int64_t bytes) {
  Task<Reservation> trying = try_reserve(account, bytes);
  Reservation made = co_await trying;
  if (made.bytes() < bytes) made = account.reserve_now(bytes, ReservationKind::Held);
  co_return made;
}

Task<QuerySpill::Turn> QuerySpill::take_turn() {
  Task<std::optional<int>> taking = turn_.receive();
  co_await taking;
  co_return Turn(turn_);
}

std::shared_ptr<SpillFile> QuerySpill::make_file() {
  return std::make_shared<SpillFile>(space_, limits_, tiers_.host_memory);
}

}  // namespace pistachio
