// Keeps the rows that one query retains within memory_limit: when memory runs short, stores of rows write theirs to disk, those with most
// first. One per query and rank; outlives the operators. Thread-safe. About a fifth of memory_limit stays free for temporaries of kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/task.h"
#include "config/settings.h"
#include "memory/channel.h"
#include "memory/memory_governor.h"
#include "spill/spill_file.h"

namespace pistachio {

// Rows that an operator retains and could write to disk. Owned by shared pointers: its operator may end while another task has it spill.
class SpillableStore {
 public:
  virtual ~SpillableStore() = default;
  // Memory that spill() would release. Any thread.
  virtual int64_t spillable_bytes() const = 0;
  // Writes the rows to disk and releases their memory. One call at a time, by any task, while the operator may add rows.
  virtual Task<void> spill() = 0;
};

class QuerySpill {
 public:
  // `space` and `governor` outlive it.
  QuerySpill(SpillSpace& space, const MemoryGovernor& governor, const Settings& settings);

  void add(std::weak_ptr<SpillableStore> store);
  // Has stores spill until `bytes` are free, or no store has rows worth writing.
  Task<void> make_room(int64_t bytes);
  // Reserves the bytes, for rows that are retained. Throws OutOfMemory if there is no room for them after all has been spilled.
  Task<Reservation> reserve(MemoryAccount account, int64_t bytes);
  // The same for an upper bound of what will be needed: empty if there is no room.
  Task<Reservation> try_reserve(MemoryAccount account, int64_t bytes);
  bool has_room(int64_t bytes) const;
  // Whether an operator may read so many spilled bytes into memory at once. With spill=always only few, so that tests reach what
  // operators do with more.
  bool fits(int64_t bytes) const;

  // While it exists, no store spills but on behalf of its owner.
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

  // Whether stores spill even if all their rows fit (spill=always).
  bool is_forced() const { return mode_ == SpillMode::Always; }

  // Bytes of rows to work on at once while spilling.
  int64_t batch_bytes() const { return batch_bytes_; }
  std::shared_ptr<SpillFile> make_file();

 private:
  std::shared_ptr<SpillableStore> largest_store();
  bool must_spill();

  SpillSpace& space_;
  const MemoryGovernor& governor_;
  const SpillMode mode_;
  const SpillLimits limits_;
  const int64_t memory_limit_;
  const int64_t batch_bytes_;
  const int64_t least_bytes_;  // of a store: writing fewer is not worth it
  Channel<int> turn_{1};       // holds one item, which the task that spills takes out
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<SpillableStore>> stores_;
  int64_t calls_ = 0;
};

}  // namespace pistachio
