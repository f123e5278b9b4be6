// Buffer limits of exchange ends, and their counters.
#pragma once

#include <chrono>
#include <cstdint>

namespace pistachio {

struct ExchangeLimits {
  int64_t window_bytes = 8 << 20;    // under way from one rank to another, and one message more; the same on all ranks
  int64_t outgoing_bytes = 2 << 20;  // packed and waiting to be sent to one rank
  bool compress = false;             // rows, where that makes them smaller; all byte counts are of what travels
};

// What an exchange moved between this rank and others, and how long tasks of this rank waited for it: times are sums over tasks.
struct ExchangeFigures {
  int64_t bytes_sent = 0;
  int64_t messages_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_received = 0;
  std::chrono::nanoseconds senders_stalled{0};    // for room, their receivers being slower
  std::chrono::nanoseconds credit_stalled{0};     // what was packed already, for credit from its receivers
  std::chrono::nanoseconds receivers_stalled{0};  // for rows
};

}  // namespace pistachio
