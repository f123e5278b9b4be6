// The implementation of PooledAllocator: blocks by size, from thread caches, slabs (up to 32 KiB) or page runs. Shared by the allocator and
// the threads that have caches in it. Enforces the limit of mapped bytes: before an allocation is refused, all caches are emptied.
// Thread-safe. Lock order: caches -> slab list -> page heap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "memory/page_heap.h"
#include "memory/pooled_allocator.h"
#include "memory/slab_list.h"
#include "memory/thread_cache.h"

namespace pistachio {

class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  explicit BlockPool(const PooledAllocatorOptions& options);

  // Never null; throws OutOfMemory. bytes > 0.
  void* allocate(size_t bytes);
  // `block` may belong to any pool.
  static void free(void* block);

  void trim();
  void set_limit(int64_t limit_bytes);
  PooledAllocatorStatistics statistics() const;
  int64_t free_bytes() const;

  // For the per-thread registry of caches (block_pool.cpp).
  ThreadCache* add_thread_cache();
  void remove_thread_cache(ThreadCache* cache);
  // The allocator was destroyed: threads should release the pool.
  void close() { closed_.store(true, std::memory_order_relaxed); }
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  void leak() { self_ = shared_from_this(); }

 private:
  class Returns;

  void* allocate_slab_block(int size_class, ThreadCache* cache);
  Span& allocate_span(uint32_t pages, SpanState state, int size_class);
  void free_class_block(int size_class, void* block);
  void return_blocks(int size_class, std::span<void* const> blocks);
  void empty_caches();

  const int64_t thread_cache_bytes_;
  std::atomic<bool> closed_ = false;
  std::shared_ptr<BlockPool> self_;
  PageHeap heap_;
  std::array<SlabList, kSlabClasses> slabs_;
  mutable std::mutex caches_mutex_;
  // Guarded by caches_mutex_.
  std::vector<std::unique_ptr<ThreadCache>> caches_;
};

}  // namespace pistachio
