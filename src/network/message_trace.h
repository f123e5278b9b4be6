// Ring buffer of recent messages, for diagnosing hangs. Thread-safe; fixed memory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace pistachio {

enum class MessageDirection : uint8_t { Sent, Received };

class MessageTrace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kKept = 64;

  void record(MessageDirection direction, int peer, uint16_t kind, int64_t bytes, Clock::time_point when = Clock::now());
  // One line per message, oldest first: `0.125 s ago  to 3  kind 7  1.5 KiB`.
  std::string to_text() const;

 private:
  struct Entry {
    Clock::time_point time;
    MessageDirection direction = MessageDirection::Sent;
    int peer = 0;
    uint16_t kind = 0;
    int64_t bytes = 0;
  };

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<Entry, kKept> entries_;
  uint64_t count_ = 0;
};

}  // namespace pistachio
