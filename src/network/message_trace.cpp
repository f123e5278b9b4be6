#include "network/message_trace.h"

#include <fmt/format.h>

#include "base/format_bytes.h"

namespace pistachio {

void MessageTrace::record(MessageDirection direction, int peer, uint16_t kind, int64_t bytes, Clock::time_point when) {
  std::lock_guard lock(mutex_);
  entries_[count_ % kKept] = {when, direction, peer, kind, bytes};
  ++count_;
}

std::string MessageTrace::to_text() const {
  std::lock_guard lock(mutex_);
  Clock::time_point now = Clock::now();
  std::string text;
  for (uint64_t i = count_ > kKept ? count_ - kKept : 0; i < count_; ++i) {
    const Entry& entry = entries_[i % kKept];
    text += fmt::format("{:.6f} s ago  {} {}  kind {}  {}\n", std::chrono::duration<double>(now - entry.time).count(),
                        entry.direction == MessageDirection::Sent ? "to" : "from", entry.peer, entry.kind, format_bytes(entry.bytes));
  }
  return text;
}

}  // namespace pistachio
