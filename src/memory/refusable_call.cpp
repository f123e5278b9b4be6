#include "memory/refusable_call.h"

#include <atomic>

namespace pistachio {

namespace {

// Process-wide, as the allocator is.
std::atomic<bool> refuses = false;
std::atomic<uint64_t> calls = 0;
std::atomic<int64_t> refusals = 0;

// Calls that allocate less often than this are refused nothing, sometimes.
constexpr uint64_t kFewAllocations = 4;
constexpr uint64_t kManyAllocations = 32;

}  // namespace

void RefusableAllocations::refuse_all(bool on) {
  refuses = on;
}

bool RefusableAllocations::are_refused() {
  return refuses.load(std::memory_order_relaxed);
}

int64_t RefusableAllocations::count() {
  return refusals;
}

bool RefusableAllocations::count_refusal() {
  ++refusals;
  return true;
}

void RefusableAllocations::begin() {
  // A multiplicative hash spreads the refused allocations over short and long calls.
  const uint64_t draw = (++calls * 0x9E3779B97F4A7C15u) >> 32;
  allocations_left_ = static_cast<int64_t>(1 + (draw >> 8) % (draw % 2 == 0 ? kFewAllocations : kManyAllocations));
}

}  // namespace pistachio
