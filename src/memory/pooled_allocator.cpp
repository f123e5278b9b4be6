#include "memory/pooled_allocator.h"

#include <c10/core/CPUAllocator.h>

#include "base/error.h"
#include "memory/block_pool.h"
#include "memory/refusable_call.h"

namespace pistachio {

PooledAllocator::PooledAllocator(PooledAllocatorOptions options) : pool_(std::make_shared<BlockPool>(options)) {}

PooledAllocator::~PooledAllocator() {
  pool_->close();
  pool_->trim();
  // Live blocks find the pool by their address, so it must outlive them, and there is no bound on that.
  if (pool_->statistics().mapped_bytes > 0) pool_->leak();
}

c10::DataPtr PooledAllocator::allocate(size_t bytes) {
  if (RefusableAllocations::refuses_allocation()) [[unlikely]]
    throw OutOfMemory("out of memory: a test refused an allocation");
  void* block = bytes > 0 ? pool_->allocate(bytes) : nullptr;
  return {block, block, &BlockPool::free, c10::Device(c10::DeviceType::CPU)};
}

c10::DeleterFnPtr PooledAllocator::raw_deleter() const {
  return &BlockPool::free;
}

void PooledAllocator::trim() {
  pool_->trim();
}

void PooledAllocator::set_limit(int64_t limit_bytes) {
  pool_->set_limit(limit_bytes);
}

PooledAllocatorStatistics PooledAllocator::statistics() const {
  return pool_->statistics();
}

int64_t PooledAllocator::free_bytes() const {
  return pool_->free_bytes();
}

PooledAllocator& install_pooled_allocator(PooledAllocatorOptions options) {
  auto* allocator = new PooledAllocator(options);  // never deleted, see the header
  c10::SetCPUAllocator(allocator, /*priority=*/1);
  return *allocator;
}

PooledAllocator& process_allocator() {
  static PooledAllocator& allocator = install_pooled_allocator();
  return allocator;
}

}  // namespace pistachio
