// Substring search in linear time and constant memory, whatever the needle (Crochemore and Perrin, "Two-way string-matching", 1991). Slower
// than find_bytes on ordinary text, which therefore falls back to it only after too many failed comparisons. Stateless.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "expr/work_poll.h"

namespace pistachio {

namespace two_way {

// The needle is split where its local period equals its global one: from there a mismatch to the right allows a shift by its distance.
struct Split {
  int64_t at = 0;
  int64_t period = 1;
};

// The greatest suffix of the needle in the order of its bytes, or in the reverse one, and the period of that suffix.
template <bool reversed, typename Poll>
Split greatest_suffix(std::string_view needle, Poll& poll) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(needle.data());
  const int64_t length = static_cast<int64_t>(needle.size());
  int64_t suffix = 0, candidate = 1, matched = 0, period = 1;
  while (candidate + matched < length) {
    poll(1);
    const unsigned char in_candidate = bytes[candidate + matched], in_suffix = bytes[suffix + matched];
    if (in_candidate == in_suffix) {
      if (++matched == period) {
        candidate += period;
        matched = 0;
      }
    } else if (reversed ? in_candidate > in_suffix : in_candidate < in_suffix) {
      candidate += matched + 1;
      matched = 0;
      period = candidate - suffix;
    } else {
      suffix = candidate++;
      matched = 0;
      period = 1;
    }
  }
  return {suffix, period};
}

template <typename Poll>
Split critical_split(std::string_view needle, Poll& poll) {
  const Split ascending = greatest_suffix<false>(needle, poll), descending = greatest_suffix<true>(needle, poll);
  return ascending.at > descending.at ? ascending : descending;
}

}  // namespace two_way

// The first occurrence of the needle, which is not empty, in [at, end), or null.
template <typename Poll>
const char* find_two_way(const char* at, const char* end, std::string_view needle, Poll& poll) {
  const int64_t length = static_cast<int64_t>(needle.size());
  const char* bytes = needle.data();
  const two_way::Split split = two_way::critical_split(needle, poll);
  const bool repeats = split.at + split.period <= length &&
                       needle.substr(0, static_cast<size_t>(split.at)) ==
                           needle.substr(static_cast<size_t>(split.period), static_cast<size_t>(split.at));
  // Without a short period, the longer half of the needle is a safe shift, after which no bytes are known to match.
  const int64_t shift = repeats ? split.period : std::max(split.at, length - split.at) + 1;
  int64_t known = 0;  // leading bytes of the needle that are known to match at the current position
  while (end - at >= length) {
    int64_t right = std::max(split.at, known);
    for (; right < length && bytes[right] == at[right]; ++right) poll(1);
    if (right < length) {
      poll(1);
      at += right - split.at + 1;
      known = 0;
      continue;
    }
    int64_t left = split.at;
    for (; left > known && bytes[left - 1] == at[left - 1]; --left) poll(1);
    if (left <= known) return at;
    poll(1);
    at += shift;
    known = repeats ? length - split.period : 0;
  }
  return nullptr;
}

}  // namespace pistachio
