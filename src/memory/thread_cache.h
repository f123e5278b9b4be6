// Per-thread cache of free blocks, so that most allocations take no lock: the owner takes a block with one atomic exchange on a cache line
// of its own core and puts one back with a plain store. Other threads may steal everything at any time (trim, memory limit) through the
// same exchange: lock-free on both sides. Owned by a BlockPool, used by the thread it was created for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/size_classes.h"

namespace pistachio {

class ThreadCache {
 public:
  explicit ThreadCache(int64_t limit_bytes);

  // Owner only. Null when there is none.
  void* take(int size_class) {
    Shelf& shelf = shelves_[static_cast<size_t>(size_class)];
    while (shelf.filled > 0) {
      // A slot below `filled` is empty only if it was stolen.
      if (void* block = shelf.slots[--shelf.filled].exchange(nullptr, std::memory_order_acq_rel)) {
        bytes_ -= static_cast<int64_t>(size_of_class(size_class));
        return block;
      }
    }
    return nullptr;
  }

  // Owner only. False when there is no room.
  bool put(int size_class, void* block) {
    Shelf& shelf = shelves_[static_cast<size_t>(size_class)];
    const int64_t block_bytes = static_cast<int64_t>(size_of_class(size_class));
    if (shelf.filled == shelf.capacity || bytes_ + block_bytes > limit_bytes_) return false;
    shelf.slots[shelf.filled++].store(block, std::memory_order_release);
    bytes_ += block_bytes;
    return true;
  }

  // Owner only. Corrects the byte count for stolen blocks; call it when put found no room.
  void recount();

  // Any thread: removes blocks and passes them to `receive(size_class, block)`.
  template <typename Receive>
  void steal_all(Receive& receive) {
    for (int size_class = 0; size_class < kSizeClasses; ++size_class) steal_class(size_class, 0, receive);
  }
  // The most recent ones, down to `remaining` slots.
  template <typename Receive>
  void steal_class(int size_class, uint32_t remaining, Receive& receive) {
    Shelf& shelf = shelves_[static_cast<size_t>(size_class)];
    for (uint32_t i = remaining; i < shelf.capacity; ++i) {
      if (shelf.slots[i].load(std::memory_order_relaxed) == nullptr) continue;
      if (void* block = shelf.slots[i].exchange(nullptr, std::memory_order_acq_rel)) receive(size_class, block);
    }
  }

  // Any thread. Exact only while the owner is idle.
  int64_t bytes() const;
  uint32_t capacity(int size_class) const { return shelves_[static_cast<size_t>(size_class)].capacity; }

 private:
  struct Shelf {
    std::unique_ptr<std::atomic<void*>[]> slots;
    uint32_t capacity = 0;
    // Owner only: slots at and above it are empty.
    uint32_t filled = 0;
  };

  const int64_t limit_bytes_;
  // Owner only: an upper bound, because steals are not counted.
  int64_t bytes_ = 0;
  std::array<Shelf, kSizeClasses> shelves_;
};

}  // namespace pistachio
