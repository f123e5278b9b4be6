// Characters of UTF-8 text. A character starts at the first byte of a text and at every byte that is not a continuation byte, so that
// invalid text can be counted and split, too, and nothing reads past its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "expr/work_poll.h"

namespace pistachio {

constexpr bool continues_character(char byte) {
  return static_cast<signed char>(byte) < -64;
}

inline bool is_ascii(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  uint64_t seen = 0;
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    seen |= word;
  }
  for (; at < end; ++at) seen |= static_cast<unsigned char>(*at) & 0x80U;
  return (seen & 0x8080808080808080ULL) == 0;
}

// Eight bytes at a time: continuation bytes are 10xxxxxx.
inline int64_t count_characters(std::string_view text) {
  constexpr uint64_t ones = 0x0101010101010101ULL;
  const char* at = text.data();
  const char* end = at + text.size();
  int64_t count = static_cast<int64_t>(text.size()) + (!text.empty() && continues_character(text[0]));
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    uint64_t continued = (word >> 7) & ~(word >> 6) & ones;
    count -= static_cast<int64_t>((continued * ones) >> 56);
  }
  for (; at < end; ++at) count -= continues_character(*at);
  return count;
}

// The end of the character at `at` < `end`.
inline const char* next_character(const char* at, const char* end) {
  ++at;
  while (at < end && continues_character(*at)) ++at;
  return at;
}

// The start of the character that ends at `at` > `begin`.
inline const char* previous_character(const char* at, const char* begin) {
  --at;
  while (at > begin && continues_character(*at)) --at;
  return at;
}

// Skips `count` characters, or stops at the end.
inline const char* skip_characters(const char* at, const char* end, int64_t count) {
  // A character has at least one byte, so eight can be skipped at a time if all are ASCII.
  while (count >= 8 && end - at > 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    if ((word & 0x8080808080808080ULL) != 0 || continues_character(at[8])) break;
    at += 8;
    count -= 8;
  }
  for (; count > 0 && at < end; --count) at = next_character(at, end);
  return at;
}

// The code point at `at`; an invalid byte yields 0xDC00 plus its value, which is not a code point. Advances `at`.
constexpr uint32_t kBrokenByte = 0xDC00;
inline uint32_t read_code_point(const char*& at, const char* end) {
  auto byte = [&](int64_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(at[i])); };
  uint32_t first = byte(0);
  if (first < 0x80) {
    ++at;
    return first;
  }
  int64_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool whole = first >= 0xC2 && first < 0xF5 && end - at >= length;
  uint32_t code = first & (0xFFU >> (length + 1));
  for (int64_t i = 1; whole && i < length; ++i) {
    whole = continues_character(at[i]);
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (!whole || code < lowest[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    ++at;
    return kBrokenByte + first;
  }
  at += length;
  return code;
}

// Writes up to 4 bytes and returns how many; the inverse of read_code_point.
inline int64_t write_code_point(uint32_t code, char* to) {
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  if (code >= kBrokenByte && code < kBrokenByte + 256) {
    to[0] = static_cast<char>(code - kBrokenByte);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<char>(0xC0 | code >> 6);
    to[1] = static_cast<char>(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<char>(0xE0 | code >> 12);
    to[1] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to[2] = static_cast<char>(0x80 | (code & 0x3F));
    return 3;
  }
  to[0] = static_cast<char>(0xF0 | code >> 18);
  to[1] = static_cast<char>(0x80 | (code >> 12 & 0x3F));
  to[2] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
  to[3] = static_cast<char>(0x80 | (code & 0x3F));
  return 4;
}

// The first occurrence of `needle` in [at, end), or null. An empty needle is found at `at`. Linear time for every needle.
const char* find_bytes(const char* at, const char* end, std::string_view needle, NoPoll& poll);
const char* find_bytes(const char* at, const char* end, std::string_view needle, WorkPoll& poll);

}  // namespace pistachio
