#include "memory/thread_cache.h"

#include <algorithm>

namespace pistachio {

namespace {

constexpr int64_t kBytesPerClass = int64_t{16} << 20;
constexpr int64_t kMinBlocks = 8;
constexpr int64_t kMaxBlocks = 64;

}  // namespace

ThreadCache::ThreadCache(int64_t limit_bytes) : limit_bytes_(limit_bytes) {
  for (int i = 0; i < kSizeClasses; ++i) {
    Shelf& shelf = shelves_[static_cast<size_t>(i)];
    shelf.capacity = static_cast<uint32_t>(std::clamp(kBytesPerClass / static_cast<int64_t>(size_of_class(i)), kMinBlocks, kMaxBlocks));
    shelf.slots = std::make_unique<std::atomic<void*>[]>(shelf.capacity);
  }
}

void ThreadCache::recount() {
  bytes_ = 0;
  for (int i = 0; i < kSizeClasses; ++i) {
    Shelf& shelf = shelves_[static_cast<size_t>(i)];
    uint32_t kept = 0;
    for (uint32_t slot = 0; slot < shelf.filled; ++slot) {
      void* block = shelf.slots[slot].exchange(nullptr, std::memory_order_acq_rel);
      if (block != nullptr) shelf.slots[kept++].store(block, std::memory_order_release);
    }
    shelf.filled = kept;
    bytes_ += kept * static_cast<int64_t>(size_of_class(i));
  }
}

int64_t ThreadCache::bytes() const {
  int64_t bytes = 0;
  for (int i = 0; i < kSizeClasses; ++i) {
    const Shelf& shelf = shelves_[static_cast<size_t>(i)];
    for (uint32_t slot = 0; slot < shelf.capacity; ++slot) {
      if (shelf.slots[slot].load(std::memory_order_relaxed) != nullptr) bytes += static_cast<int64_t>(size_of_class(i));
    }
  }
  return bytes;
}

}  // namespace pistachio
