#include "expr/text_pieces.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/text_builder.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

// Start of the last `count` characters, or of the text if there are fewer.
const char* skip_back(const char* end, const char* begin, int64_t count) {
  for (; count > 0 && end > begin; --count) end = previous_character(end, begin);
  return end;
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

// -count; for the smallest number, which has no negation, something larger than any text.
int64_t absolute_count(int64_t count) {
  return count == INT64_MIN ? INT64_MAX : -count;
}

class CharacterSet {
 public:
  explicit CharacterSet(std::string_view characters) {
    const char* at = characters.data();
    const char* end = at + characters.size();
    while (at < end) {
      uint32_t code = read_code_point(at, end);
      if (code < 128) {
        ascii_[code] = true;
      } else {
        others_.push_back(code);
      }
    }
  }
  bool contains(uint32_t code) const {
    return code < 128 ? ascii_[code] : std::find(others_.begin(), others_.end(), code) != others_.end();
  }

 private:
  std::array<bool, 128> ascii_ = {};
  std::vector<uint32_t> others_;
};

template <bool left, bool right>
std::string_view trimmed(std::string_view text, const CharacterSet& characters) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (left && begin < end) {
    const char* next = begin;
    if (!characters.contains(read_code_point(next, end))) break;
    begin = next;
  }
  while (right && begin < end) {
    const char* last = previous_character(end, begin);
    const char* behind = last;
    if (!characters.contains(read_code_point(behind, end)) || behind != end) break;
    end = last;
  }
  return between(begin, end);
}

template <bool left, bool right>
Column trim(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  bool has_characters = call.arguments.size() == 2;
  if (!has_characters || call.arguments[1].is_constant) {
    CharacterSet characters(has_characters ? ArgumentText(call.arguments[1])[0] : " ");
    return share_text(call, text, [&](int64_t row) { return trimmed<left, right>(text[row], characters); });
  }
  ArgumentText sets(call.arguments[1]);
  return share_text(call, text, [&](int64_t row) { return trimmed<left, right>(text[row], CharacterSet(sets[row])); });
}

// The part before the next delimiter; `rest` becomes the part after it, or null if there is none.
std::string_view next_piece(const char*& rest, const char* end, std::string_view delimiter) {
  const char* begin = rest;
  const char* found = find_bytes(begin, end, delimiter);
  rest = found == nullptr ? nullptr : found + delimiter.size();
  return between(begin, found == nullptr ? end : found);
}

std::string_view piece_of(std::string_view text, std::string_view delimiter, int64_t number) {
  if (number == 0) throw UserError("the field position must not be zero");
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (delimiter.empty()) return number == 1 || number == -1 ? text : text.substr(0, 0);
  if (number < 0) {
    int64_t count = 1;
    for (const char* rest = begin; next_piece(rest, end, delimiter), rest != nullptr;) ++count;
    if (absolute_count(number) > count) return text.substr(0, 0);
    number = count + number + 1;
  }
  const char* rest = begin;
  for (int64_t i = 1; rest != nullptr; ++i) {
    std::string_view piece = next_piece(rest, end, delimiter);
    if (i == number) return piece;
  }
  return text.substr(0, 0);
}

}  // namespace

std::string_view substring_of(std::string_view text, int64_t start, int64_t length) {
  if (length < 0) throw UserError("negative substring length not allowed");
  int64_t behind;
  if (__builtin_add_overflow(start, length, &behind)) behind = INT64_MAX;
  if (behind <= 1) return text.substr(0, 0);
  const char* end = text.data() + text.size();
  int64_t skipped = std::max<int64_t>(start, 1) - 1;
  const char* begin = skip_characters(text.data(), end, skipped);
  return between(begin, skip_characters(begin, end, behind - 1 - skipped));
}

Column substring(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> start(call.arguments[1]);
  if (call.arguments.size() == 2) {
    return share_text(call, text, [&](int64_t row) {
      const char* end = text[row].data() + text[row].size();
      return between(skip_characters(text[row].data(), end, std::max<int64_t>(start[row], 1) - 1), end);
    });
  }
  ArgumentValues<int64_t> length(call.arguments[2]);
  return share_text(call, text, [&](int64_t row) { return substring_of(text[row], start[row], length[row]); });
}

Column left_part(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> count(call.arguments[1]);
  return share_text(call, text, [&](int64_t row) {
    const char* begin = text[row].data();
    const char* end = begin + text[row].size();
    return between(begin, count[row] >= 0 ? skip_characters(begin, end, count[row]) : skip_back(end, begin, absolute_count(count[row])));
  });
}

Column right_part(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> count(call.arguments[1]);
  return share_text(call, text, [&](int64_t row) {
    const char* begin = text[row].data();
    const char* end = begin + text[row].size();
    return between(count[row] >= 0 ? skip_back(end, begin, count[row]) : skip_characters(begin, end, absolute_count(count[row])), end);
  });
}

Column trim_left(const FunctionCall& call) {
  return trim<true, false>(call);
}

Column trim_right(const FunctionCall& call) {
  return trim<false, true>(call);
}

Column trim_both(const FunctionCall& call) {
  return trim<true, true>(call);
}

Column split_part(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText delimiter(call.arguments[1]);
  ArgumentValues<int64_t> number(call.arguments[2]);
  return share_text(call, text, [&](int64_t row) { return piece_of(text[row], delimiter[row], number[row]); });
}

}  // namespace pistachio
