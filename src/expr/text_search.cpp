#include "expr/text_search.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/letter_case.h"
#include "expr/like_pattern.h"
#include "expr/polled_text.h"
#include "expr/text_builder.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

template <typename Poll>
const char* find_text(std::string_view text, std::string_view wanted, Poll& poll) {
  return find_bytes(text.data(), text.data() + text.size(), wanted, poll);
}

template <typename Test>
Column test_texts(const FunctionCall& call, const Test& test) {
  ArgumentText left(call.arguments[0]);
  ArgumentText right(call.arguments[1]);
  return fill_text_rows<bool>(call, [&](int64_t row, auto& poll) { return test(left[row], right[row], poll); }, left, right);
}

// Upper bound of the work to match a row, in bytes. Capped, so that the sum does not overflow.
struct MatchWork {
  const ArgumentText& text;
  const ArgumentText* pattern;  // null: the same for all rows
  int64_t per_byte = 1;

  int64_t length(int64_t row) const {
    constexpr int64_t most = int64_t{1} << 31;
    return std::min(text.length(row), most) * std::min(pattern == nullptr ? per_byte : pattern->length(row) + 1, most / 1024);
  }
};

std::string_view checked_escape(std::string_view text) {
  if (count_characters(text) > 1) throw UserError("the escape string must be empty or one character");
  return text;
}

template <bool negated>
Column match_constant(const FunctionCall& call, const LikePattern& pattern, const ArgumentText& text) {
  std::string_view literal = pattern.literal();
  // Only the literal's length is compared at the ends of a value.
  auto test_ends = [&](const auto& test) { return fill_rows<bool>(call, [&](int64_t row) { return test(text[row]) != negated; }); };
  auto search = [&](const auto& test) {
    return fill_text_rows<bool>(call, [&](int64_t row, auto& poll) { return test(text[row], poll) != negated; },
                                MatchWork{text, nullptr, pattern.work_per_byte()});
  };
  switch (pattern.shape()) {
    case LikePattern::Shape::Whole: return test_ends([&](std::string_view value) { return value == literal; });
    case LikePattern::Shape::Prefix: return test_ends([&](std::string_view value) { return value.starts_with(literal); });
    case LikePattern::Shape::Suffix: return test_ends([&](std::string_view value) { return value.ends_with(literal); });
    case LikePattern::Shape::Infix:
      return search([&](std::string_view value, auto& poll) { return find_text(value, literal, poll) != nullptr; });
    default: return search([&](std::string_view value, auto& poll) { return pattern.matches(value, poll); });
  }
}

Argument lower_argument(const Argument& argument, const CancelToken* token) {
  ArgumentText text(argument);
  int64_t rows = argument.column.rows();
  TextBuilder builder(rows, text.total_bytes(rows), token);
  for_each_polled_row(
      rows, token, [&](int64_t row) { return text.length(row); },
      [&](int64_t row, auto& poll) {
        for_each_character_block(text[row], poll, [&](std::string_view block) { append_in_case(block, LetterCase::Lower, builder); });
        builder.end_row();
      });
  return {builder.finish(TypeKind::Varchar), argument.is_constant};
}

template <bool negated, bool ignores_case>
Column match(const FunctionCall& call) {
  // A bad pattern is not an error if no row counts.
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText text(ignores_case ? lower_argument(call.arguments[0], call.token) : call.arguments[0]);
  ArgumentText pattern(call.arguments[1]);
  std::optional<ArgumentText> escapes;
  if (call.arguments.size() == 3) escapes.emplace(call.arguments[2]);
  auto escape_at = [&](int64_t row) { return escapes ? checked_escape((*escapes)[row]) : "\\"; };
  if (call.arguments[1].is_constant && (!escapes || call.arguments[2].is_constant)) {
    return match_constant<negated>(call, LikePattern(pattern[0], escape_at(0), ignores_case, call.token), text);
  }
  CountedRows counted(call);
  auto match_row = [&](int64_t row, auto& poll) {
    return counted[row] && LikePattern(pattern[row], escape_at(row), ignores_case, call.token).matches(text[row], poll) != negated;
  };
  return fill_text_rows<bool>(call, match_row, MatchWork{text, &pattern});
}

}  // namespace

Column count_of_characters(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  return fill_text_rows<int64_t>(call, [&](int64_t row, auto& poll) { return count_characters(text[row], poll); }, text);
}

Column count_of_bytes(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  return fill_rows<int64_t>(call, [&](int64_t row) { return static_cast<int64_t>(text[row].size()); });
}

Column count_of_bits(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  return fill_rows<int64_t>(call, [&](int64_t row) { return static_cast<int64_t>(text[row].size()) * 8; });
}

Column first_code_point(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  return fill_rows<int32_t>(call, [&](int64_t row) {
    const char* at = text[row].data();
    return text[row].empty() ? 0 : static_cast<int32_t>(read_code_point(at, at + text[row].size()));
  });
}

Column position_of_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText wanted(call.arguments[1]);
  auto find_row = [&](int64_t row, auto& poll) -> int64_t {
    const char* found = find_text(text[row], wanted[row], poll);
    return found == nullptr ? 0 : count_characters({text[row].data(), static_cast<size_t>(found - text[row].data())}, poll) + 1;
  };
  return fill_text_rows<int64_t>(call, find_row, text, wanted);
}

Column starts_with_text(const FunctionCall& call) {
  return test_texts(call, [](std::string_view text, std::string_view start, auto&) { return text.starts_with(start); });
}

Column ends_with_text(const FunctionCall& call) {
  return test_texts(call, [](std::string_view text, std::string_view end, auto&) { return text.ends_with(end); });
}

Column contains_text(const FunctionCall& call) {
  auto contains = [](std::string_view text, std::string_view wanted, auto& poll) { return find_text(text, wanted, poll) != nullptr; };
  return test_texts(call, contains);
}

Column like(const FunctionCall& call) {
  return match<false, false>(call);
}

Column not_like(const FunctionCall& call) {
  return match<true, false>(call);
}

Column like_ignoring_case(const FunctionCall& call) {
  return match<false, true>(call);
}

Column not_like_ignoring_case(const FunctionCall& call) {
  return match<true, true>(call);
}

}  // namespace pistachio
