// An interval as three numbers, and its two words in a tensor: microseconds; months (upper half) and days (lower half).
#pragma once

#include <cstdint>

#include "expr/argument_access.h"

namespace pistachio {

struct Interval {
  int32_t months;
  int32_t days;
  int64_t micros;
};

constexpr Interval unpack_interval(WordPair words) {
  return {static_cast<int32_t>(words.high >> 32), static_cast<int32_t>(words.high), words.low};
}

constexpr WordPair pack_interval(Interval interval) {
  uint64_t high = static_cast<uint64_t>(interval.months) << 32 | static_cast<uint32_t>(interval.days);
  return {interval.micros, static_cast<int64_t>(high)};
}

}  // namespace pistachio
