// Buffer limits of exchange ends, and their counters.
#pragma once

#include <chrono>
#include <cstdint>

namespace pistachio {

// Which rows are compressed if that makes them smaller; all byte counts are on the wire.
enum class RowCompression : uint8_t { None, AcrossNetwork, Everywhere };

struct ExchangeLimits {
  int64_t window_bytes = 8 << 20;    // in flight from one rank to another, plus at most one message; the same on all ranks
  int64_t outgoing_bytes = 2 << 20;  // packed and waiting to be sent to one rank
  RowCompression compress = RowCompression::None;
};

// Traffic of an exchange between this rank and others, and how long tasks of this rank waited for it (sums over tasks).
struct ExchangeFigures {
  int64_t bytes_sent = 0;
  int64_t bytes_across_network = 0;  // of those sent: to other hosts (ExchangeHub::crosses_network)
  int64_t messages_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_received = 0;
  std::chrono::nanoseconds senders_stalled{0};    // waiting for room, because receivers are slower
  std::chrono::nanoseconds credit_stalled{0};     // packed rows waiting for credit
  std::chrono::nanoseconds receivers_stalled{0};  // waiting for rows
};

}  // namespace pistachio
