#include "base/bandwidth_limit.h"

#include <algorithm>

namespace pistachio {

BandwidthLimit::TimePoint BandwidthLimit::reserve(int64_t bytes, TimePoint given) {
  if (!is_on()) return given;
  auto duration = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_)));
  std::lock_guard lock(mutex_);
  free_at_ = std::max(free_at_, given) + duration;
  return free_at_;
}

BandwidthLimit::TimePoint BandwidthLimit::free_at() const {
  std::lock_guard lock(mutex_);
  return free_at_;
}

}  // namespace pistachio
