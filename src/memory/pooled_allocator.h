// A pooled allocator of host memory that serves as c10's CPU allocator, for every CPU tensor of the process. It caches freed memory
// (huge pages, already touched) for the next tensor instead of returning it to the operating system, because first touch of fresh memory
// costs more than most kernels. Only trim(), or reaching the limit, unmaps memory. Blocks are aligned to 64 bytes, blocks of 32 KiB and
// more to pages. Thread-safe; a block may be freed by any thread, even after the thread that allocated it has ended.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pistachio {

class BlockPool;

struct PooledAllocatorOptions {
  // Hard limit of mapped bytes; see set_limit.
  int64_t limit_bytes = INT64_MAX;
  // Bytes of free blocks that one thread may cache.
  int64_t thread_cache_bytes = int64_t{32} << 20;
};

struct PooledAllocatorStatistics {
  // In allocated blocks, rounded up to block sizes.
  int64_t live_bytes = 0;
  // Mapped but free: in thread caches, in partly used slabs, in free runs.
  int64_t cached_bytes = 0;
  int64_t mapped_bytes = 0;
  int64_t peak_mapped_bytes = 0;
};

class PooledAllocator final : public c10::Allocator {
 public:
  explicit PooledAllocator(PooledAllocatorOptions options = {});
  // Memory of blocks that are still in use stays mapped forever.
  ~PooledAllocator() override;

  // Throws OutOfMemory, naming memory_limit, when live bytes would exceed the limit.
  c10::DataPtr allocate(size_t bytes) override;
  void copy_data(void* destination, const void* source, std::size_t count) const override { default_copy_data(destination, source, count); }
  c10::DeleterFnPtr raw_deleter() const override;

  // Unmaps all free memory, including the caches of other threads. Slabs of small blocks stay while a block in them is in use.
  void trim();
  void set_limit(int64_t limit_bytes);
  PooledAllocatorStatistics statistics() const;
  // What blocks may still be allocated within the limit. Other threads may take it meanwhile.
  int64_t free_bytes() const;

 private:
  std::shared_ptr<BlockPool> pool_;
};

// Makes a PooledAllocator c10's CPU allocator for the rest of the process. It is never destroyed: tensors in static variables, and in
// threads that end after main, are freed after everything that could own it. Call before the first tensor, or at least never twice.
PooledAllocator& install_pooled_allocator(PooledAllocatorOptions options = {});

// The allocator of this process, installed by the first call. c10 has one CPU allocator, so all engines and transports share it.
PooledAllocator& process_allocator();

}  // namespace pistachio
