#include "memory/block_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/format_bytes.h"
#include "memory/poison.h"
#include "memory/refusal_text.h"

namespace pistachio {

namespace {

constexpr size_t kMaxBlocksInBatch = 32;
// Finding an aligned address for one arena takes twice its size.

size_t batch_of(int size_class) {
  return std::clamp((size_t{32} << 10) / size_of_class(size_class), size_t{1}, kMaxBlocksInBatch);
}

struct LastUsedCache {
  const BlockPool* pool = nullptr;
  ThreadCache* cache = nullptr;
  bool thread_ends = false;
};

// No destructors, so that other thread-local objects may free blocks after the thread's caches are gone.
constinit thread_local LastUsedCache last_used_cache{};

// The caches of one thread, in all pools (one in production, several in tests).
class ThreadCaches {
 public:
  ~ThreadCaches() {
    last_used_cache = {nullptr, nullptr, true};
    for (Entry& entry : entries_) entry.pool->remove_thread_cache(entry.cache);
  }

  ThreadCache* find_or_add(BlockPool& pool) {
    std::erase_if(entries_, [](const Entry& entry) {
      if (!entry.pool->is_closed()) return false;
      entry.pool->remove_thread_cache(entry.cache);
      return true;
    });
    for (const Entry& entry : entries_) {
      if (entry.pool.get() == &pool) return entry.cache;
    }
    // A late block of a closed pool: not worth creating a cache for.
    if (pool.is_closed()) return nullptr;
    entries_.push_back({pool.shared_from_this(), pool.add_thread_cache()});
    return entries_.back().cache;
  }

 private:
  struct Entry {
    std::shared_ptr<BlockPool> pool;
    ThreadCache* cache;
  };
  std::vector<Entry> entries_;
};

// Null in a thread that is ending.
ThreadCache* current_cache(BlockPool& pool) {
  if (last_used_cache.pool == &pool) [[likely]]
    return last_used_cache.cache;
  if (last_used_cache.thread_ends) return nullptr;
  static thread_local ThreadCaches caches;
  ThreadCache* cache = caches.find_or_add(pool);
  last_used_cache = {cache != nullptr ? &pool : nullptr, cache, false};
  return cache;
}

// Error text. Other threads may have freed memory since, so that the figures need not show why the request was refused.
std::string describe_shortage(int64_t bytes, int64_t limit, const PooledAllocatorStatistics& now, Shortage shortage) {
  const std::string text = fmt::format("out of memory: a block of {} does not fit", format_bytes(bytes));
  if (shortage == Shortage::System) {
    if (std::optional<int64_t> limit_of_addresses = address_space_limit()) {
      return text + fmt::format(", the address space of this process is limited to {} (ulimit -v), and half of it is for tensors; "
                                "raise that limit, memory_limit keeps memory bounded",
                                format_bytes(*limit_of_addresses));
    }
    return text + ", the operating system gives no more; lower memory_limit or run less beside it";
  }
  return text + fmt::format(", {} is in use and memory_limit is {}; raise memory_limit", format_bytes(now.live_bytes), format_bytes(limit));
}

void mark_in_use(void* block, size_t bytes, size_t block_bytes) {
  poison(block, block_bytes);
  unpoison(block, bytes);
}

}  // namespace

// Returns blocks in batches; they arrive ordered by class.
class BlockPool::Returns {
 public:
  explicit Returns(BlockPool& pool) : pool_(pool) {}
  ~Returns() { flush(); }
  void operator()(int size_class, void* block) {
    if (count_ == blocks_.size() || size_class != size_class_) flush();
    size_class_ = size_class;
    blocks_[count_++] = block;
  }

 private:
  void flush() { pool_.return_blocks(size_class_, {blocks_.data(), std::exchange(count_, 0)}); }

  BlockPool& pool_;
  int size_class_ = 0;
  size_t count_ = 0;
  std::array<void*, kMaxBlocksInBatch> blocks_;
};

BlockPool::BlockPool(const PooledAllocatorOptions& options)
    : thread_cache_bytes_(options.thread_cache_bytes), heap_(*this, options.limit_bytes) {}

void* BlockPool::allocate(size_t bytes) {
  if (bytes > kLargestClassBlock) {
    if (bytes > Arena::kLargestBlock)
      throw OutOfMemory(describe_shortage(static_cast<int64_t>(bytes), heap_.limit(), statistics(), Shortage::Limit));
    const size_t rounded = (bytes + kLargeBlockStep - 1) / kLargeBlockStep * kLargeBlockStep;
    Span& span = allocate_span(static_cast<uint32_t>(rounded / kPageBytes), SpanState::Run, kNoSizeClass);
    void* block = span.arena->address(span.first_page);
    mark_in_use(block, bytes, rounded);
    return block;
  }
  const int size_class = size_class_of(bytes);
  ThreadCache* cache = current_cache(*this);
  void* block = cache != nullptr ? cache->take(size_class) : nullptr;
  if (block == nullptr) {
    if (size_class < kSlabClasses) {
      block = allocate_slab_block(size_class, cache);
    } else {
      Span& span = allocate_span(static_cast<uint32_t>(size_of_class(size_class) / kPageBytes), SpanState::Run, size_class);
      block = span.arena->address(span.first_page);
    }
  }
  mark_in_use(block, bytes, size_of_class(size_class));
  return block;
}

void* BlockPool::allocate_slab_block(int size_class, ThreadCache* cache) {
  SlabList& list = slabs_[static_cast<size_t>(size_class)];
  std::array<void*, kMaxBlocksInBatch> blocks;
  const size_t wanted = cache != nullptr ? batch_of(size_class) : 1;
  size_t taken = list.take({blocks.data(), wanted});
  while (taken == 0) {
    list.add_slab(allocate_span(SlabList::pages_of_slab(size_class), SpanState::Slab, size_class));
    taken = list.take({blocks.data(), wanted});  // another thread may have taken them first
  }
  size_t kept = 1;
  while (kept < taken && cache->put(size_class, blocks[kept])) ++kept;
  return_blocks(size_class, {blocks.data() + kept, taken - kept});
  return blocks[0];
}

Span& BlockPool::allocate_span(uint32_t pages, SpanState state, int size_class) {
  Shortage shortage = Shortage::Limit;
  if (Span* span = heap_.allocate(pages, state, size_class, shortage)) return *span;
  // The limit is reached: first empty the caches, so that free blocks merge into runs; then unmap free runs to map a longer one elsewhere.
  empty_caches();
  if (Span* span = heap_.allocate(pages, state, size_class, shortage)) return *span;
  heap_.decommit_cached();
  if (Span* span = heap_.allocate(pages, state, size_class, shortage)) return *span;
  throw OutOfMemory(describe_shortage(int64_t{pages} * static_cast<int64_t>(kPageBytes), heap_.limit(), statistics(), shortage));
}

void BlockPool::free(void* block) {
  if (block == nullptr) return;
  Arena* arena = Arena::of(block);
  Span* span = arena->span_at(block);
  BlockPool& pool = arena->pool();
  const int size_class = span->size_class;
  if (size_class == kNoSizeClass) {
    poison(block, span->bytes());
    pool.heap_.free(*span);
  } else {
    poison(block, size_of_class(size_class));
    pool.free_class_block(size_class, block);
  }
}

void BlockPool::free_class_block(int size_class, void* block) {
  if (ThreadCache* cache = current_cache(*this)) {
    if (cache->put(size_class, block)) return;
    Returns returns(*this);
    // If the class is full, flush half of it; if the whole cache is full, flush everything, so that it refills with the sizes in use now.
    cache->steal_class(size_class, cache->capacity(size_class) / 2, returns);
    cache->recount();
    if (cache->put(size_class, block)) return;
    cache->steal_all(returns);
    cache->recount();
  }
  return_blocks(size_class, {&block, 1});
}

void BlockPool::return_blocks(int size_class, std::span<void* const> blocks) {
  if (blocks.empty()) return;
  if (size_class < kSlabClasses) {
    slabs_[static_cast<size_t>(size_class)].give_back(blocks, heap_);
  } else {
    for (void* block : blocks) heap_.free(*Arena::of(block)->span_at(block));
  }
}

void BlockPool::empty_caches() {
  {
    std::lock_guard lock(caches_mutex_);
    Returns returns(*this);
    for (std::unique_ptr<ThreadCache>& cache : caches_) cache->steal_all(returns);
  }
  for (SlabList& list : slabs_) list.release_empty_slabs(heap_);
}

void BlockPool::trim() {
  empty_caches();
  heap_.decommit_cached();
}

void BlockPool::set_limit(int64_t limit_bytes) {
  heap_.set_limit(limit_bytes);
  if (heap_.mapped_bytes() > limit_bytes) trim();
}

PooledAllocatorStatistics BlockPool::statistics() const {
  int64_t live = heap_.run_bytes();
  for (int i = 0; i < kSlabClasses; ++i) live += slabs_[static_cast<size_t>(i)].blocks_out() * static_cast<int64_t>(size_of_class(i));
  {
    std::lock_guard lock(caches_mutex_);
    for (const std::unique_ptr<ThreadCache>& cache : caches_) live -= cache->bytes();
  }
  const int64_t mapped = heap_.mapped_bytes();
  return {.live_bytes = live, .cached_bytes = mapped - live, .mapped_bytes = mapped, .peak_mapped_bytes = heap_.peak_mapped_bytes()};
}

int64_t BlockPool::free_bytes() const {
  return std::max<int64_t>(0, heap_.limit() - statistics().live_bytes);
}

ThreadCache* BlockPool::add_thread_cache() {
  auto cache = std::make_unique<ThreadCache>(thread_cache_bytes_);
  std::lock_guard lock(caches_mutex_);
  caches_.push_back(std::move(cache));
  return caches_.back().get();
}

void BlockPool::remove_thread_cache(ThreadCache* cache) {
  {
    Returns returns(*this);
    cache->steal_all(returns);
  }
  std::lock_guard lock(caches_mutex_);
  std::erase_if(caches_, [&](const std::unique_ptr<ThreadCache>& known) { return known.get() == cache; });
}

}  // namespace pistachio
