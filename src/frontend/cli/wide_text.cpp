#include "frontend/cli/wide_text.h"

#include <cstdint>

namespace pistachio {

namespace {

constexpr uint32_t kNoCharacter = 0xFFFD;

bool is_character(uint32_t code) {
  return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

// Length of the character that starts with this byte; 0 if none does.
size_t encoded_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

}  // namespace

std::wstring to_wide(std::string_view text) {
  constexpr uint32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  constexpr unsigned char kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::wstring made;
  for (size_t at = 0; at < text.size();) {
    auto first = static_cast<unsigned char>(text[at]);
    size_t bytes = encoded_bytes(first);
    bool is_whole = bytes > 0 && at + bytes <= text.size();
    uint32_t code = is_whole ? first & kFirstBits[bytes] : kNoCharacter;
    for (size_t i = 1; is_whole && i < bytes; ++i) {
      is_whole = (text[at + i] & 0xC0) == 0x80;
      code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
    }
    is_whole = is_whole && code >= kMin[bytes] && is_character(code);
    made += static_cast<wchar_t>(is_whole ? code : kNoCharacter);
    at += is_whole ? bytes : 1;
  }
  return made;
}

std::string to_utf8(std::wstring_view text) {
  std::string made;
  for (wchar_t letter : text) {
    auto code = static_cast<uint32_t>(letter);
    if (!is_character(code)) code = kNoCharacter;
    auto rest = [&](int shift) { made += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
      made += static_cast<char>(code);
    } else if (code < 0x800) {
      made += static_cast<char>(0xC0 | code >> 6);
      rest(0);
    } else if (code < 0x10000) {
      made += static_cast<char>(0xE0 | code >> 12);
      rest(6);
      rest(0);
    } else {
      made += static_cast<char>(0xF0 | code >> 18);
      rest(12);
      rest(6);
      rest(0);
    }
  }
  return made;
}

}  // namespace pistachio
