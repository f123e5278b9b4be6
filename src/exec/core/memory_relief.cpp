#include "exec/core/memory_relief.h"

#include <fmt/format.h>

#include "base/format_bytes.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/pooled_allocator.h"

namespace pistachio {

void ensure_free_memory(const RunContext& context, int64_t bytes) {
  if (context.device.is_cpu()) {
    const PooledAllocator& allocator = process_allocator();
    at::empty({1}, at::kByte);  // which tests may refuse
    if (allocator.free_bytes() >= bytes) return;
    throw OutOfMemory(fmt::format("out of memory: {} for the next rows do not fit, {} are free; raise memory_limit", format_bytes(bytes),
                                  format_bytes(allocator.free_bytes())));
  }
  // As long as operators may retain several times as much, there is enough even if free memory is scattered over many blocks.
  constexpr int64_t kAmple = 4;
  if (context.spill.has_room(kAmple * bytes) && !RefusableAllocations::are_refused()) return;
  // The allocator keeps the block for the tensors that follow.
  at::empty({bytes}, context.tensors_of(at::kByte));
}

bool finds_free_memory(const RunContext& context, int64_t bytes) {
  try {
    const RefusableAllocations call(true);
    ensure_free_memory(context, bytes);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

Task<void> prepare_memory(const RunContext& context, int64_t bytes) {
  constexpr int kMaxAttempts = 3;
  if (!context.spill.is_allowed()) co_return;
  for (int attempt = 0; attempt < kMaxAttempts && !finds_free_memory(context, bytes); ++attempt) {
    Task<void> relieving = context.spill.relieve();
    co_await relieving;
  }
}

}  // namespace pistachio
