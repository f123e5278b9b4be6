// The statistics of a footer's column chunks as written. Arrow exposes one pair of bounds and hides whether they are from the current or
// the deprecated fields, and whether they are exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pistachio {

struct RawStatistics {
  std::optional<std::string_view> minimum;
  std::optional<std::string_view> maximum;
  std::optional<std::string_view> old_minimum;  // deprecated, in signed order
  std::optional<std::string_view> old_maximum;
  std::optional<int64_t> nulls;
  std::optional<int64_t> distinct;
  bool minimum_is_exact = false;
  bool maximum_is_exact = false;
};

// By row group and leaf; empty where a chunk has none. The views point into `footer`. Throws MalformedThrift.
std::vector<std::vector<RawStatistics>> read_raw_statistics(std::span<const uint8_t> footer);

}  // namespace pistachio
