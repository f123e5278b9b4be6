// Lets tests refuse one allocation of a host tensor in the middle of a call that can be repeated, to check that the call has no effect
// then. Off unless a test turns it on.
#pragma once

#include <cstdint>

namespace pistachio {

// Marks a call on this thread that has no effect if it throws OutOfMemory. Must not be alive across a co_await.
class RefusableAllocations {
 public:
  // `may_refuse`: false when a refused call is repeated.
  explicit RefusableAllocations(bool may_refuse) {
    if (may_refuse && are_refused()) begin();
  }
  ~RefusableAllocations() { end(); }
  RefusableAllocations(const RefusableAllocations&) = delete;
  RefusableAllocations& operator=(const RefusableAllocations&) = delete;

  // From here on the marked call of this thread has an effect even if it throws.
  static void end() { allocations_left_ = 0; }

  // For tests: from now on some allocation of most refusable calls of the process is refused, a different one each time.
  static void refuse_all(bool on);
  static bool are_refused();
  // For the allocator: whether to refuse this allocation.
  static bool refuses_allocation() { return allocations_left_ != 0 && --allocations_left_ == 0 && count_refusal(); }
  // How many allocations were refused so far.
  static int64_t count();

 private:
  static void begin();
  static bool count_refusal();

  // On this thread, until one is refused; 0: none will be.
  static inline thread_local int64_t allocations_left_ = 0;
};

}  // namespace pistachio
