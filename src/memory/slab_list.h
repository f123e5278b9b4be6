// All slabs of one block size. A slab is a span cut into equal blocks; a bit per block says whether it is free. Owned by a BlockPool, one
// per size class up to 32 KiB. Thread-safe: one lock per class; thread caches exchange blocks in batches, so it is rarely contended.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>

#include "memory/page_heap.h"
#include "memory/span.h"

namespace pistachio {

class SlabList {
 public:
  SlabList() = default;
  SlabList(const SlabList&) = delete;
  SlabList& operator=(const SlabList&) = delete;

  static uint32_t pages_of_slab(int size_class);

  // Fills `blocks` from the front as far as the slabs have free blocks; returns how many.
  size_t take(std::span<void*> blocks);
  // A span that the page heap allocated as Slab.
  void add_slab(Span& span);
  // Returns empty slabs to the heap, except one that is kept for the next allocation.
  void give_back(std::span<void* const> blocks, PageHeap& heap);
  void release_empty_slabs(PageHeap& heap);
  // Blocks taken and not yet given back.
  int64_t blocks_out() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_, with the SlabState of all slabs.
  std::set<Span*> with_free_blocks_;
  Span* kept_empty_ = nullptr;
  int64_t blocks_out_ = 0;
};

}  // namespace pistachio
