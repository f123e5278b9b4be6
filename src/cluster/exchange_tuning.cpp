#include "cluster/exchange_tuning.h"

#include <algorithm>

#include "network/block_compression.h"

namespace pistachio {

namespace {

constexpr int64_t kSmallestWindow = 256 << 10;
constexpr int64_t kSmallestMessage = 256 << 10;
constexpr int64_t kLargestMessage = 8 << 20;
constexpr int64_t kUnmeasuredMessage = 1 << 20;
// Slow links get smaller messages: the receiver has no work while the first one is on its way, and the sender none for the link until it
// is full.
constexpr double kMessageSeconds = 0.004;
constexpr int64_t kSmallestSlowMessage = 64 << 10;

ExchangeLimits exchange_limits(const Settings& settings, size_t exchanges, int ranks) {
  // All exchanges of a query together leave most of the memory to operators.
  int64_t share = settings.memory_limit / 4 / static_cast<int64_t>(std::max<size_t>(1, exchanges));
  int64_t window = std::max(kSmallestWindow, std::min(settings.queue_limit, share) / ranks);
  return {.window_bytes = window, .outgoing_bytes = std::max(kSmallestWindow, window / 4)};
}

// Bytes per second of the slowest link; 0: unknown.
double link_speed(const std::vector<MeasuredLink>& links, const Settings& settings) {
  const double measured = slowest_speed(links);
  const auto limit = static_cast<double>(settings.link_bandwidth_limit);
  if (limit <= 0) return measured;
  return measured > 0 ? std::min(measured, limit) : limit;
}

int64_t suitable_message_bytes(const std::vector<MeasuredLink>& links, const Settings& settings, const ExchangeLimits& limits) {
  int64_t bytes = message_bytes_for(links);
  if (bytes == 0) bytes = kUnmeasuredMessage;
  bytes = std::clamp(bytes, kSmallestMessage, kLargestMessage);
  if (const double speed = link_speed(links, settings); speed > 0)
    bytes = std::min(bytes, std::max(kSmallestSlowMessage, static_cast<int64_t>(speed * kMessageSeconds)));
  // Two fit into the window: one is in flight while another is consumed.
  return std::min(bytes, limits.window_bytes / 2);
}

// Shared memory within a host is faster than the codec, however slow the links between hosts are.
RowCompression compression(const Settings& settings, double speed) {
  if (settings.network_compression == NetworkCompression::On) return RowCompression::Everywhere;
  const bool pays = settings.network_compression == NetworkCompression::Auto && compression_pays(speed);
  return pays ? RowCompression::AcrossNetwork : RowCompression::None;
}

}  // namespace

ExchangeTuning tune_exchanges(const Settings& settings, const std::vector<MeasuredLink>& links, size_t exchanges, int ranks) {
  ExchangeTuning tuning;
  tuning.limits = exchange_limits(settings, exchanges, ranks);
  tuning.limits.compress = compression(settings, link_speed(links, settings));
  if (settings.dynamic_buffering)
    tuning.buffered_bytes = settings.message_bytes == 0 ? suitable_message_bytes(links, settings, tuning.limits) : settings.message_bytes;
  return tuning;
}

}  // namespace pistachio
