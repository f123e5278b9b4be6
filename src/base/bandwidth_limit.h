// Makes a fast device look like a slower one, for evaluation: bytes pass one after another at a fixed speed. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace pistachio {

class BandwidthLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Bytes a second; 0: no limit.
  explicit BandwidthLimit(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  bool is_on() const { return bytes_per_second_ > 0; }
  int64_t bytes_per_second() const { return bytes_per_second_; }

  // When the bytes, given to the device now, would have passed it: behind all that were given before.
  TimePoint reserve(int64_t bytes) { return reserve(bytes, std::chrono::steady_clock::now()); }
  // The same for bytes that were given to it at an earlier moment.
  TimePoint reserve(int64_t bytes, TimePoint given);
  // When the device has passed everything; in the past or now: it is idle.
  TimePoint free_at() const;

 private:
  const int64_t bytes_per_second_;
  mutable std::mutex mutex_;
  TimePoint free_at_;  // guarded by mutex_
};

}  // namespace pistachio
