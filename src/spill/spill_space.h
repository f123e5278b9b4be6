// Counts the disk space that all queries of the process use for spilled rows. Owned by the engine, outlives its files. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace pistachio {

// The settings of a query.
struct SpillLimits {
  std::string folder;      // temp_directory
  int64_t most_bytes = 0;  // max_temp_size; 0: no limit
};

class SpillSpace {
 public:
  // Throws UserError if that would exceed the limit.
  void take(int64_t bytes, const SpillLimits& limits);
  void give_back(int64_t bytes) noexcept { bytes_ -= bytes; }
  int64_t bytes() const { return bytes_; }

 private:
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace pistachio
