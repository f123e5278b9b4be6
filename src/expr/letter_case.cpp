#include "expr/letter_case.h"

#include <utf8proc.h>

#include <cstring>

#include "expr/polled_text.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

template <LetterCase letter_case>
char ascii_in_case(char letter) {
  constexpr unsigned char first = letter_case == LetterCase::Upper ? 'a' : 'A';
  unsigned char byte = static_cast<unsigned char>(letter);
  return static_cast<char>(byte ^ (static_cast<unsigned char>(byte - first) < 26 ? 0x20 : 0));
}

// Eight bytes at a time: one addition sets the top bit of bytes >= the first letter, another that of bytes > the last; where only the
// first is set, the byte is a letter, and bit 5 is its case.
template <LetterCase letter_case>
void copy_ascii(std::string_view text, char* to) {
  constexpr uint64_t ones = 0x0101010101010101ULL;
  constexpr uint64_t first = letter_case == LetterCase::Upper ? 'a' : 'A';
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    uint64_t letters = (word + (128 - first) * ones) & ~(word + (128 - first - 26) * ones) & (128 * ones);
    word ^= letters >> 2;
    std::memcpy(to + i, &word, 8);
  }
  for (; i < text.size(); ++i) to[i] = ascii_in_case<letter_case>(text[i]);
}

uint32_t in_case(uint32_t code, LetterCase letter_case) {
  if (code >= kBrokenByte && code < kBrokenByte + 256) return code;
  // Unicode has no single capital for it; utf8proc would use one that PostgreSQL does not.
  constexpr uint32_t sharp_s = 0xDF;
  if (code == sharp_s) return code;
  int32_t letter = static_cast<int32_t>(code);
  return static_cast<uint32_t>(letter_case == LetterCase::Upper ? utf8proc_toupper(letter) : utf8proc_tolower(letter));
}

bool is_word_letter(uint32_t code) {
  if (code >= kBrokenByte && code < kBrokenByte + 256) return false;
  utf8proc_category_t category = utf8proc_category(static_cast<int32_t>(code));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) || category == UTF8PROC_CATEGORY_ND ||
         category == UTF8PROC_CATEGORY_NL;
}

// Changing case adds at most one byte per letter, and invalid bytes stay single.
int64_t longest_in_case(std::string_view text) {
  return static_cast<int64_t>(text.size()) * 2 + 4;
}

int64_t write_in_case(std::string_view text, LetterCase letter_case, char* to) {
  const char* at = text.data();
  const char* end = at + text.size();
  char* out = to;
  while (at < end) out += write_code_point(in_case(read_code_point(at, end), letter_case), out);
  return out - to;
}

}  // namespace

void append_in_case(std::string_view block, LetterCase letter_case, TextBuilder& builder) {
  if (is_ascii(block)) {
    char* to = builder.reserve(static_cast<int64_t>(block.size()));
    letter_case == LetterCase::Upper ? copy_ascii<LetterCase::Upper>(block, to) : copy_ascii<LetterCase::Lower>(block, to);
    builder.commit(static_cast<int64_t>(block.size()));
    return;
  }
  char* to = builder.reserve(longest_in_case(block));
  builder.commit(write_in_case(block, letter_case, to));
}

void append_capitalized(std::string_view block, bool& in_word, TextBuilder& builder) {
  char* to = builder.reserve(longest_in_case(block));
  char* out = to;
  const char* at = block.data();
  const char* end = at + block.size();
  while (at < end) {
    uint32_t code = read_code_point(at, end);
    out += write_code_point(in_case(code, in_word ? LetterCase::Lower : LetterCase::Upper), out);
    in_word = is_word_letter(code);
  }
  builder.commit(out - to);
}

std::string to_lower(std::string_view text, WorkPoll& poll) {
  std::string lower;
  for_each_character_block(text, poll, [&](std::string_view block) {
    size_t before = lower.size();
    lower.resize(before + static_cast<size_t>(longest_in_case(block)));
    lower.resize(before + static_cast<size_t>(write_in_case(block, LetterCase::Lower, lower.data() + before)));
  });
  return lower;
}

}  // namespace pistachio
