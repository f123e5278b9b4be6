// Keeps the rows that one query retains within a memory limit: when memory runs short, stores spill their rows, the largest store first:
// from host memory to disk, from a GPU to host memory and then to disk. One per query and rank; outlives the operators. Thread-safe. The
// rest of the limit stays free for temporaries of kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/task.h"
#include "config/settings.h"
#include "memory/channel.h"
#include "memory/memory_governor.h"
#include "spill/spill_file.h"

namespace pistachio {

// Rows that an operator retains and can write to disk. Owned by shared pointers: the operator may end while another task spills its rows.
class SpillableStore {
 public:
  virtual ~SpillableStore() = default;
  // Memory that spill() would release. Any thread.
  virtual int64_t spillable_bytes() const = 0;
  // Writes the rows to disk and releases their memory. One call at a time, by any task, while the operator may add rows.
  virtual Task<void> spill() = 0;
};

// What retained rows may take.
struct SpillTiers {
  double retained_share = 0.8;  // of the governor's limit
  // Where spilled rows go before they go to disk; nullopt: nowhere.
  std::optional<MemoryAccount> host_memory;
};

class QuerySpill {
 public:
  // `space` and `governor` outlive it. The governor is that of the memory where operators retain rows.
  QuerySpill(SpillSpace& space, const MemoryGovernor& governor, const Settings& settings, SpillTiers tiers = {});

  void add(std::weak_ptr<SpillableStore> store);
  // Spills stores until `bytes` are free or no store has rows worth writing. These four throw a UserError if a store has no memory to spill
  // in: its rows are lost then, and the query must end.
  Task<void> make_room(int64_t bytes);
  // The same for a caller whose kernels found no memory although there seemed to be room: the largest store spills in any case.
  Task<void> relieve();
  // Reserves bytes for retained rows. Throws OutOfMemory if there is no room even after everything has been spilled.
  Task<Reservation> reserve(MemoryAccount account, int64_t bytes);
  // The same for an upper bound that may not be needed in full; returns an empty reservation if there is no room.
  Task<Reservation> try_reserve(MemoryAccount account, int64_t bytes);
  bool has_room(int64_t bytes) const;
  // Whether an operator may read this many spilled bytes into memory at once. With spill=always the limit is a small share of the spilled
  // bytes, so that tests cover what operators do beyond it.
  bool fits(int64_t bytes) const;
  // Whether an operator may keep this many bytes, beside all that is reserved, in memory that it cannot spill any more, such as a hash
  // table. Leaves room for the scans and other operators that run as long as it keeps them.
  bool may_keep(int64_t bytes) const;

  // While it exists, stores spill only on behalf of its owner.
  class [[nodiscard]] Turn {
   public:
    explicit Turn(Channel<int>& turn) : turn_(&turn) {}
    Turn(Turn&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turn_ != nullptr) turn_->push(0, 1);
    }

   private:
    Channel<int>* turn_;
  };
  Task<Turn> take_turn();

  // Whether rows may leave memory at all (not with spill=off).
  bool is_allowed() const { return mode_ != SpillMode::Off; }
  // Whether stores spill even if all their rows fit (spill=always).
  bool is_forced() const { return mode_ == SpillMode::Always; }

  // What kernels on all lanes may allocate together for a moment: the part of the limit that retained rows do not take.
  int64_t temporary_bytes() const { return governor_.limit() - memory_limit_; }
  // Bytes of rows to process at a time while spilling.
  int64_t batch_bytes() const { return batch_bytes_; }
  std::shared_ptr<SpillFile> make_file();

 private:
  std::shared_ptr<SpillableStore> largest_store();
  bool must_spill();
  Task<void> spill_until(int64_t bytes, bool must);

  SpillSpace& space_;
  const MemoryGovernor& governor_;
  const SpillMode mode_;
  const SpillLimits limits_;
  const SpillTiers tiers_;
  const int64_t memory_limit_;
  const int64_t batch_bytes_;
  const int64_t least_bytes_;  // a store with fewer bytes is not worth spilling
  std::atomic<int64_t> freed_ = 0;  // times that a store released memory
  mutable std::atomic<int64_t> most_spilled_ = 0;  // bytes on disk and in host memory when fits() was called; spill=always only
  Channel<int> turn_{1};       // holds one item, which the spilling task takes out
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<SpillableStore>> stores_;
  int64_t calls_ = 0;
};

}  // namespace pistachio
