// Hashes of the values of a column that serves as a dictionary: computed once, when rows with its codes are worth it, and kept as long as the
// column. Thread-safe. Memory: one word per entry, counted with the column (Column::memory_bytes).
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <mutex>

namespace pistachio {

class EntryHashes {
 public:
  // int64 [entries]; undefined before set().
  at::Tensor get() const {
    std::lock_guard lock(mutex_);
    return hashes_;
  }
  // The first call has an effect.
  void set(at::Tensor hashes) {
    std::lock_guard lock(mutex_);
    if (!hashes_.defined()) hashes_ = std::move(hashes);
  }
  // Counts rows whose values were hashed instead; returns all of them so far.
  int64_t add_rows(int64_t rows) { return rows_ += rows; }
  int64_t memory_bytes() const {
    std::lock_guard lock(mutex_);
    return hashes_.defined() ? static_cast<int64_t>(hashes_.nbytes()) : 0;
  }

 private:
  mutable std::mutex mutex_;
  at::Tensor hashes_;  // guarded by mutex_
  std::atomic<int64_t> rows_ = 0;
};

// Where a column keeps them. Most columns are no dictionaries and have none. A copy starts without.
class EntryHashesSlot {
 public:
  EntryHashesSlot() = default;
  EntryHashesSlot(const EntryHashesSlot&) noexcept {}
  EntryHashesSlot& operator=(const EntryHashesSlot& other) noexcept {
    if (this != &other) delete made_.exchange(nullptr);
    return *this;
  }
  ~EntryHashesSlot() { delete made_.load(); }

  EntryHashes& get() const {
    if (EntryHashes* known = made_.load(std::memory_order_acquire)) return *known;
    auto* own = new EntryHashes;
    EntryHashes* first = nullptr;
    if (made_.compare_exchange_strong(first, own, std::memory_order_acq_rel)) return *own;
    delete own;
    return *first;
  }
  int64_t memory_bytes() const {
    const EntryHashes* known = made_.load(std::memory_order_acquire);
    return known == nullptr ? 0 : known->memory_bytes();
  }

 private:
  mutable std::atomic<EntryHashes*> made_ = nullptr;
};

}  // namespace pistachio
