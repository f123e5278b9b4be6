#include "expr/text_search.h"

#include <optional>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/letter_case.h"
#include "expr/like_pattern.h"
#include "expr/text_builder.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

const char* find_text(std::string_view text, std::string_view wanted) {
  return find_bytes(text.data(), text.data() + text.size(), wanted);
}

template <typename Test>
Column test_texts(const FunctionCall& call, const Test& test) {
  ArgumentText left(call.arguments[0]);
  ArgumentText right(call.arguments[1]);
  return fill_rows<bool>(call, [&](int64_t row) { return test(left[row], right[row]); });
}

std::string_view checked_escape(std::string_view text) {
  if (count_characters(text) > 1) throw UserError("the escape string must be empty or one character");
  return text;
}

template <bool negated>
Column match_constant(const FunctionCall& call, const LikePattern& pattern, const ArgumentText& text) {
  std::string_view literal = pattern.literal();
  auto test_rows = [&](const auto& test) { return fill_rows<bool>(call, [&](int64_t row) { return test(text[row]) != negated; }); };
  switch (pattern.shape()) {
    case LikePattern::Shape::Whole: return test_rows([&](std::string_view value) { return value == literal; });
    case LikePattern::Shape::Prefix: return test_rows([&](std::string_view value) { return value.starts_with(literal); });
    case LikePattern::Shape::Suffix: return test_rows([&](std::string_view value) { return value.ends_with(literal); });
    case LikePattern::Shape::Infix: return test_rows([&](std::string_view value) { return find_text(value, literal) != nullptr; });
    default: return test_rows([&](std::string_view value) { return pattern.matches(value); });
  }
}

Argument lower_argument(const Argument& argument) {
  ArgumentText text(argument);
  int64_t rows = argument.column.rows();
  TextBuilder builder(rows, text.total_bytes(rows));
  for (int64_t row = 0; row < rows; ++row) {
    append_in_case(text[row], LetterCase::Lower, builder);
    builder.end_row();
  }
  return {builder.finish(TypeKind::Varchar), argument.is_constant};
}

template <bool negated, bool ignores_case>
Column match(const FunctionCall& call) {
  // A bad pattern is not an error if no row counts.
  if (!any_row_counts(call)) return meaningless_rows(call);
  ArgumentText text(ignores_case ? lower_argument(call.arguments[0]) : call.arguments[0]);
  ArgumentText pattern(call.arguments[1]);
  std::optional<ArgumentText> escapes;
  if (call.arguments.size() == 3) escapes.emplace(call.arguments[2]);
  auto escape_at = [&](int64_t row) { return escapes ? checked_escape((*escapes)[row]) : "\\"; };
  if (call.arguments[1].is_constant && (!escapes || call.arguments[2].is_constant)) {
    return match_constant<negated>(call, LikePattern(pattern[0], escape_at(0), ignores_case), text);
  }
  return fill_counted_rows<bool>(
      call, [&](int64_t row) { return LikePattern(pattern[row], escape_at(row), ignores_case).matches(text[row]) != negated; });
}

}  // namespace

Column count_of_characters(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  return fill_rows<int64_t>(call, [&](int64_t row) { return count_characters(text[row]); });
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
  return fill_rows<int64_t>(call, [&](int64_t row) {
    const char* found = find_text(text[row], wanted[row]);
    return found == nullptr ? 0 : count_characters({text[row].data(), static_cast<size_t>(found - text[row].data())}) + 1;
  });
}

Column starts_with_text(const FunctionCall& call) {
  return test_texts(call, [](std::string_view text, std::string_view start) { return text.starts_with(start); });
}

Column ends_with_text(const FunctionCall& call) {
  return test_texts(call, [](std::string_view text, std::string_view end) { return text.ends_with(end); });
}

Column contains_text(const FunctionCall& call) {
  return test_texts(call, [](std::string_view text, std::string_view wanted) { return find_text(text, wanted) != nullptr; });
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
