// Searches and counts bytes eight at a time, inline: values are short, so that a call of memchr for each would cost more than the search.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pistachio {

constexpr uint64_t kByteOnes = 0x0101010101010101ULL;
constexpr uint64_t kByteTops = 0x8080808080808080ULL;

constexpr uint64_t repeated_byte(char byte) {
  return kByteOnes * static_cast<unsigned char>(byte);
}

// The top bit of each byte that is zero; exact for every byte.
constexpr uint64_t zero_bytes(uint64_t word) {
  return ~(((word & ~kByteTops) + ~kByteTops) | word) & kByteTops;
}

inline uint64_t load_eight(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The first of two bytes; `end` if there is none.
inline const char* find_either(const char* at, const char* end, char first, char second) {
  const uint64_t firsts = repeated_byte(first);
  const uint64_t seconds = repeated_byte(second);
  for (; end - at >= 8; at += 8) {
    const uint64_t word = load_eight(at);
    const uint64_t found = zero_bytes(word ^ firsts) | zero_bytes(word ^ seconds);
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  while (at != end && *at != first && *at != second) ++at;
  return at;
}

inline int64_t count_byte(std::string_view text, char byte) {
  const uint64_t wanted = repeated_byte(byte);
  const char* at = text.data();
  const char* const end = at + text.size();
  int64_t count = 0;
  // Each byte of a word counts by itself, as often as it can; baseline x86-64 has no instruction that counts bits.
  constexpr int64_t most = 255;
  while (end - at >= 8) {
    uint64_t counts = 0;
    for (int64_t words = std::min<int64_t>(most, (end - at) / 8); words > 0; --words, at += 8)
      counts += zero_bytes(load_eight(at) ^ wanted) >> 7;
    constexpr uint64_t even = 0x00FF00FF00FF00FFULL;
    count += static_cast<int64_t>(((counts & even) + (counts >> 8 & even)) * 0x0001000100010001ULL >> 48);
  }
  for (; at != end; ++at) count += *at == byte ? 1 : 0;
  return count;
}

}  // namespace pistachio
