#include "expr/text_pieces.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/polled_text.h"
#include "expr/text_builder.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

// -count; for the smallest number, which has no negation, something larger than any text.
int64_t absolute_count(int64_t count) {
  return count == INT64_MIN ? INT64_MAX : -count;
}

class CharacterSet {
 public:
  template <typename Poll>
  CharacterSet(std::string_view characters, Poll& poll) {
    const char* at = characters.data();
    const char* end = at + characters.size();
    while (at < end) {
      poll(1);
      uint32_t code = read_code_point(at, end);
      if (code < 128) {
        ascii_[code] = true;
      } else {
        others_.insert(code);
      }
    }
  }
  bool contains(uint32_t code) const {
    return code < 128 ? ascii_[code] : others_.contains(code);
  }

 private:
  std::array<bool, 128> ascii_ = {};
  std::unordered_set<uint32_t> others_;
};

template <bool left, bool right, typename Poll>
std::string_view trimmed(std::string_view text, const CharacterSet& characters, Poll& poll) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (left && begin < end) {
    poll(1);
    const char* next = begin;
    if (!characters.contains(read_code_point(next, end))) break;
    begin = next;
  }
  while (right && begin < end) {
    poll(1);
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
    WorkPoll poll_once(call.token);
    CharacterSet characters(has_characters ? ArgumentText(call.arguments[1])[0] : " ", poll_once);
    return share_text(call, text, [&](int64_t row, auto& poll) { return trimmed<left, right>(text[row], characters, poll); });
  }
  ArgumentText sets(call.arguments[1]);
  auto trim_row = [&](int64_t row, auto& poll) { return trimmed<left, right>(text[row], CharacterSet(sets[row], poll), poll); };
  return share_text(call, text, trim_row, sets);
}

// The part before the next delimiter; `rest` becomes the part after it, or null if there is none.
template <typename Poll>
std::string_view next_piece(const char*& rest, const char* end, std::string_view delimiter, Poll& poll) {
  const char* begin = rest;
  const char* found = find_bytes(begin, end, delimiter, poll);
  rest = found == nullptr ? nullptr : found + delimiter.size();
  return between(begin, found == nullptr ? end : found);
}

template <typename Poll>
std::string_view piece_of(std::string_view text, std::string_view delimiter, int64_t number, Poll& poll) {
  if (number == 0) throw UserError("the field position must not be zero");
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (delimiter.empty()) return number == 1 || number == -1 ? text : text.substr(0, 0);
  if (number < 0) {
    int64_t count = 1;
    for (const char* rest = begin; next_piece(rest, end, delimiter, poll), rest != nullptr;) ++count;
    if (absolute_count(number) > count) return text.substr(0, 0);
    number = count + number + 1;
  }
  const char* rest = begin;
  for (int64_t i = 1; rest != nullptr; ++i) {
    std::string_view piece = next_piece(rest, end, delimiter, poll);
    if (i == number) return piece;
  }
  return text.substr(0, 0);
}

}  // namespace

template <typename Poll>
std::string_view substring_of(std::string_view text, int64_t start, int64_t length, Poll& poll) {
  if (length < 0) throw UserError("negative substring length not allowed");
  int64_t behind;
  if (__builtin_add_overflow(start, length, &behind)) behind = INT64_MAX;
  if (behind <= 1) return text.substr(0, 0);
  const char* end = text.data() + text.size();
  int64_t skipped = std::max<int64_t>(start, 1) - 1;
  const char* begin = skip_characters(text.data(), end, skipped, poll);
  return between(begin, skip_characters(begin, end, behind - 1 - skipped, poll));
}

template std::string_view substring_of(std::string_view text, int64_t start, int64_t length, NoPoll& poll);
template std::string_view substring_of(std::string_view text, int64_t start, int64_t length, WorkPoll& poll);

Column substring(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> start(call.arguments[1]);
  if (call.arguments.size() == 2) {
    return share_text(call, text, [&](int64_t row, auto& poll) {
      const char* end = text[row].data() + text[row].size();
      return between(skip_characters(text[row].data(), end, std::max<int64_t>(start[row], 1) - 1, poll), end);
    });
  }
  ArgumentValues<int64_t> length(call.arguments[2]);
  return share_text(call, text, [&](int64_t row, auto& poll) { return substring_of(text[row], start[row], length[row], poll); });
}

Column left_part(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> count(call.arguments[1]);
  return share_text(call, text, [&](int64_t row, auto& poll) {
    const char* begin = text[row].data();
    const char* end = begin + text[row].size();
    return between(begin, count[row] >= 0 ? skip_characters(begin, end, count[row], poll)
                                          : skip_back(end, begin, absolute_count(count[row]), poll));
  });
}

Column right_part(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> count(call.arguments[1]);
  return share_text(call, text, [&](int64_t row, auto& poll) {
    const char* begin = text[row].data();
    const char* end = begin + text[row].size();
    return between(count[row] >= 0 ? skip_back(end, begin, count[row], poll)
                                   : skip_characters(begin, end, absolute_count(count[row]), poll),
                   end);
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
  auto split = [&](int64_t row, auto& poll) { return piece_of(text[row], delimiter[row], number[row], poll); };
  return share_text(call, text, split, delimiter);
}

}  // namespace pistachio
