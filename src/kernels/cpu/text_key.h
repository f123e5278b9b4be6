// The first eight bytes of a text value as a big-endian number, zero-padded: two such keys decide most comparisons without touching more
// memory. Never reads outside the text's bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pistachio::kernels::cpu {

struct TextSpan {
  const uint8_t* data;
  int64_t length;
};

// Bytes [skip, skip + 8) of the value; the text's bytes end at `end`.
inline uint64_t text_key(TextSpan value, const uint8_t* end, int64_t skip = 0) {
  const int64_t length = value.length - skip;
  if (length <= 0) return 0;
  uint64_t key = 0;
  if (end - value.data - skip >= 8) [[likely]] {
    std::memcpy(&key, value.data + skip, 8);
    key = __builtin_bswap64(key);
    return length >= 8 ? key : key & (~uint64_t{0} << (64 - 8 * length));
  }
  std::memcpy(&key, value.data + skip, static_cast<size_t>(std::min<int64_t>(length, 8)));
  return __builtin_bswap64(key);
}

// memcmp equality in eight-byte words, inlined because most values are short.
inline bool equal_bytes(const uint8_t* left, const uint8_t* right, int64_t length) {
  const auto word_differs = [&](int64_t at) {
    uint64_t left_word, right_word;
    std::memcpy(&left_word, left + at, 8);
    std::memcpy(&right_word, right + at, 8);
    return left_word != right_word;
  };
  if (length >= 8) {
    for (int64_t at = 0; at + 8 < length; at += 8) {
      if (word_differs(at)) return false;
    }
    return !word_differs(length - 8);
  }
  for (int64_t at = 0; at < length; ++at) {
    if (left[at] != right[at]) return false;
  }
  return true;
}

// Less than, equal to or greater than 0, as memcmp; a proper prefix is less.
inline int compare_text(TextSpan left, TextSpan right) {
  const int64_t common = std::min(left.length, right.length);
  const int order = common > 0 ? std::memcmp(left.data, right.data, static_cast<size_t>(common)) : 0;
  if (order != 0) return order;
  return left.length < right.length ? -1 : left.length > right.length;
}

}  // namespace pistachio::kernels::cpu
