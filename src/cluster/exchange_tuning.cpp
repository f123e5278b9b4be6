#include "cluster/exchange_tuning.h"

#include <algorithm>

#include "network/block_compression.h"

namespace pistachio {

namespace {

constexpr int64_t kSmallestWindow = 256 << 10;
constexpr int64_t kSmallestMessage = 256 << 10;
constexpr int64_t kLargestMessage = 8 << 20;
constexpr int64_t kUnmeasuredMessage = 1 << 20;

ExchangeLimits exchange_limits(const Settings& settings, size_t exchanges, int ranks) {
  // All exchanges of a query together leave most of the memory to operators.
  int64_t share = settings.memory_limit / 4 / static_cast<int64_t>(std::max<size_t>(1, exchanges));
  int64_t window = std::max(kSmallestWindow, std::min(settings.queue_limit, share) / ranks);
  return {.window_bytes = window, .outgoing_bytes = std::max(kSmallestWindow, window / 4), .compress = false};
}

int64_t suitable_message_bytes(const std::vector<MeasuredLink>& links, const ExchangeLimits& limits) {
  int64_t needed = message_bytes_for(links);
  if (needed == 0) needed = kUnmeasuredMessage;
  // Two fit into the window: one is in flight while another is consumed.
  return std::min(std::clamp(needed, kSmallestMessage, kLargestMessage), limits.window_bytes / 2);
}

bool is_compression_suitable(const std::vector<MeasuredLink>& links, const Settings& settings) {
  double link = slowest_speed(links);
  auto limit = static_cast<double>(settings.link_bandwidth_limit);
  if (limit > 0) link = link > 0 ? std::min(link, limit) : limit;
  return compression_pays(link);
}

}  // namespace

ExchangeTuning tune_exchanges(const Settings& settings, const std::vector<MeasuredLink>& links, size_t exchanges, int ranks) {
  ExchangeTuning tuning;
  tuning.limits = exchange_limits(settings, exchanges, ranks);
  tuning.limits.compress = settings.network_compression == NetworkCompression::Auto ? is_compression_suitable(links, settings)
                                                                                    : settings.network_compression == NetworkCompression::On;
  if (settings.dynamic_buffering)
    tuning.buffered_bytes = settings.message_bytes == 0 ? suitable_message_bytes(links, tuning.limits) : settings.message_bytes;
  return tuning;
}

}  // namespace pistachio
