// Emulates a slower device for benchmarks: bytes pass one after another at a fixed rate. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace pistachio {

class BandwidthLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // 0: no limit.
  explicit BandwidthLimit(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  bool is_on() const { return bytes_per_second_ > 0; }
  int64_t bytes_per_second() const { return bytes_per_second_; }

  // When bytes submitted now will have passed, after all earlier ones.
  TimePoint reserve(int64_t bytes) { return reserve(bytes, std::chrono::steady_clock::now()); }
  // The same for bytes submitted at an earlier time.
  TimePoint reserve(int64_t bytes, TimePoint given);
  // When everything submitted has passed; not in the future if the device is idle.
  TimePoint free_at() const;

 private:
  const int64_t bytes_per_second_;
  mutable std::mutex mutex_;
  TimePoint free_at_;  // guarded by mutex_
};

}  // namespace pistachio
