// Functions of regular expressions: the operators ~ and SIMILAR TO, regexp_matches and the like. RE2 matches in time linear in the text.
// On dictionary columns the evaluator calls them once per entry.
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/function_table.h"
#include "expr/polled_text.h"
#include "expr/regular_expression.h"
#include "expr/text_builder.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

// The compiled expression of each row; compiled again only when pattern or options change.
class RowPatterns {
 public:
  // `options`: the place of the argument with the letters; 0: there is none.
  RowPatterns(const FunctionCall& call, size_t pattern, size_t options) : pattern_(call.arguments[pattern]) {
    if (options > 0 && options < call.arguments.size()) letters_.emplace(call.arguments[options]);
  }

  const RegularExpression& operator[](int64_t row) {
    const std::string_view pattern = pattern_[row];
    const std::string_view letters = letters_ ? (*letters_)[row] : std::string_view();
    if (!compiled_ || pattern != last_pattern_ || letters != last_letters_) {
      compiled_.emplace(pattern, RegularExpression::parse_options(letters));
      last_pattern_ = pattern;
      last_letters_ = letters;
    }
    return *compiled_;
  }
  int64_t length(int64_t row) const { return pattern_.length(row); }

 private:
  ArgumentText pattern_;
  std::optional<ArgumentText> letters_;
  std::optional<RegularExpression> compiled_;
  std::string last_pattern_;
  std::string last_letters_;
};

template <typename Test>
Column test_rows(const FunctionCall& call, const Test& test) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText text(call.arguments[0]);
  CountedRows counted(call);
  return fill_text_rows<bool>(
      call, [&](int64_t row, auto&) { return counted[row] && test(text[row], row); }, text);
}

// text ~ pattern and its relatives.
template <bool negated, bool ignores_case>
Column match_operator(const FunctionCall& call) {
  ArgumentText pattern(call.arguments[1]);
  std::optional<RegularExpression> compiled;
  std::string last;
  return test_rows(call, [&](std::string_view text, int64_t row) {
    if (!compiled || last != pattern[row]) {
      last = pattern[row];
      compiled.emplace(last, RegularExpression::Options{.ignores_case = ignores_case, .dot_matches_newline = true});
    }
    return compiled->matches_part(text) != negated;
  });
}

template <bool negated>
Column match_similar(const FunctionCall& call) {
  ArgumentText pattern(call.arguments[1]);
  std::optional<ArgumentText> escapes;
  if (call.arguments.size() == 3) escapes.emplace(call.arguments[2]);
  std::optional<RegularExpression> compiled;
  std::string last;
  return test_rows(call, [&](std::string_view text, int64_t row) {
    const std::string_view escape = escapes ? (*escapes)[row] : "\\";
    if (escape.size() > 1) throw UserError("the escape string must be empty or one ASCII character");
    std::string made = RegularExpression::from_similar(pattern[row], escape.empty() ? '\0' : escape[0]);
    if (!compiled || last != made) {
      compiled.emplace(made, RegularExpression::Options{});
      last = std::move(made);
    }
    return compiled->matches_whole(text) != negated;
  });
}

Column matches_part(const FunctionCall& call) {
  RowPatterns patterns(call, 1, 2);
  return test_rows(call, [&](std::string_view text, int64_t row) { return patterns[row].matches_part(text); });
}

Column matches_whole(const FunctionCall& call) {
  RowPatterns patterns(call, 1, 2);
  return test_rows(call, [&](std::string_view text, int64_t row) { return patterns[row].matches_whole(text); });
}

Column count_matches(const FunctionCall& call) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText text(call.arguments[0]);
  RowPatterns patterns(call, 1, 2);
  CountedRows counted(call);
  return fill_text_rows<int64_t>(
      call, [&](int64_t row, auto&) { return counted[row] ? patterns[row].count(text[row]) : 0; }, text);
}

// 1-based, in characters; 0 without a match.
Column position_of_match(const FunctionCall& call) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText text(call.arguments[0]);
  RowPatterns patterns(call, 1, 2);
  CountedRows counted(call);
  auto find = [&](int64_t row, auto& poll) -> int64_t {
    if (!counted[row]) return 0;
    const auto match = patterns[row].find(text[row], 0);
    return match ? count_characters(text[row].substr(0, match->begin), poll) + 1 : 0;
  };
  return fill_text_rows<int64_t>(call, find, text);
}

Column replace_matches(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText replacement(call.arguments[2]);
  RowPatterns patterns(call, 1, 3);
  std::string changed;
  auto replace = [&](int64_t row, TextBuilder& builder, auto&) {
    changed.clear();
    patterns[row].replace(text[row], replacement[row], changed);
    builder.append(changed);
  };
  return build_polled_text(call, text.total_bytes(call.arguments[0].is_constant ? 1 : call.rows), replace, text, replacement);
}

// text, pattern [, group [, options]]: empty without a match.
Column extract_match(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  RowPatterns patterns(call, 1, 3);
  std::optional<ArgumentValues<int64_t>> groups;
  if (call.arguments.size() > 2) groups.emplace(call.arguments[2]);
  auto extract = [&](int64_t row, auto&) -> std::string_view {
    const RegularExpression& pattern = patterns[row];
    const int64_t group = groups ? (*groups)[row] : 0;
    if (group < 0 || group > pattern.groups())
      throw UserError(fmt::format("the regular expression has {} groups, so there is no group {}", pattern.groups(), group));
    const std::string_view found = pattern.extract(text[row], static_cast<int>(group)).value_or(std::string_view());
    return found.data() == nullptr ? text[row].substr(0, 0) : found;
  };
  return share_text(call, text, extract);
}

// NULL without a match: a group that PostgreSQL's substring(text FROM pattern) would return, or the whole match.
Column substring_of_match(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  RowPatterns patterns(call, 1, 0);
  at::Tensor found = at::ones({call.rows}, at::kBool);
  bool* is_found = found.mutable_data_ptr<bool>();
  auto extract = [&](int64_t row, auto&) -> std::string_view {
    const RegularExpression& pattern = patterns[row];
    const auto part = pattern.extract(text[row], pattern.groups() > 0 ? 1 : 0);
    is_found[row] = part.has_value();
    return !part || part->data() == nullptr ? text[row].substr(0, 0) : *part;
  };
  const Column shared = share_text(call, text, extract);
  return Column::text(call.result, shared.bytes(), shared.begins(), shared.ends(), found);
}

Column split_part_by_pattern(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> number(call.arguments[2]);
  RowPatterns patterns(call, 1, 3);
  auto split = [&](int64_t row, auto&) -> std::string_view {
    if (number[row] == 0) throw UserError("the number of a part must not be 0");
    const std::string_view piece = patterns[row].piece(text[row], number[row]);
    return piece.data() == nullptr ? text[row].substr(0, 0) : piece;
  };
  return share_text(call, text, split);
}

Column escape_pattern(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  constexpr std::string_view special = R"(\.+*?()|[]{}^$-)";
  auto escape = [&](int64_t row, TextBuilder& builder, auto&) {
    for (const char c : text[row]) {
      if (special.find(c) != std::string_view::npos) builder.append('\\');
      builder.append(c);
    }
  };
  return build_polled_text(call, text.total_bytes(call.arguments[0].is_constant ? 1 : call.rows), escape, text);
}

template <TypeKind result, TypeKind... parameters>
std::optional<FunctionTypes> resolve_with_options(Types types, Literals literals) {
  if (types.size() == sizeof...(parameters)) return resolve_as<result, parameters...>(types, literals);
  return resolve_as<result, parameters..., kText>(types, literals);
}

std::optional<FunctionTypes> resolve_similar(Types types, Literals literals) {
  return resolve_with_options<kTruth, kText, kText>(types, literals);
}

std::optional<FunctionTypes> resolve_regexp_extract(Types types, Literals literals) {
  if (types.size() == 2) return resolve_as<kText, kText, kText>(types, literals);
  return resolve_with_options<kText, kText, kText, kWhole>(types, literals);
}

constexpr Function make_operator(std::string_view name, Column (*evaluate)(const FunctionCall&), std::string_view signature,
                                 std::string_view description) {
  return {.name = name,
          .resolve = resolve_as<kTruth, kText, kText>,
          .evaluate = evaluate,
          .can_raise = true,
          .signature = signature,
          .description = description};
}

using Resolve = std::optional<FunctionTypes> (*)(Types, Literals);

constexpr Function make_function(std::string_view name, Resolve resolve, Column (*evaluate)(const FunctionCall&),
                                 std::string_view signature, std::string_view description) {
  return {.name = name, .resolve = resolve, .evaluate = evaluate, .can_raise = true, .signature = signature, .description = description};
}

constexpr Resolve kTestTypes = resolve_with_options<kTruth, kText, kText>;
constexpr Resolve kCountTypes = resolve_with_options<kWhole, kText, kText>;
constexpr Resolve kReplaceTypes = resolve_with_options<kText, kText, kText, kText>;

const std::array kPatternFunctions = {
    make_operator("~", match_operator<false, false>, "text ~ pattern -> BOOLEAN",
                  "Whether the regular expression matches a part of the text"),
    make_operator("!~", match_operator<true, false>, "text !~ pattern -> BOOLEAN",
                  "Whether the regular expression matches no part of the text"),
    make_operator("~*", match_operator<false, true>, "text ~* pattern -> BOOLEAN",
                  "Whether the regular expression matches a part of the text, ignoring case"),
    make_operator("!~*", match_operator<true, true>, "text !~* pattern -> BOOLEAN",
                  "Whether the regular expression matches no part of the text, ignoring case"),
    make_function("similar to", resolve_similar, match_similar<false>, "text SIMILAR TO pattern [ESCAPE escape] -> BOOLEAN",
                  "Whether the pattern matches the whole text: % and _ as in LIKE, | * + ? {n} ( ) [ ] as in regular expressions"),
    make_function("not similar to", resolve_similar, match_similar<true>, "text NOT SIMILAR TO pattern [ESCAPE escape] -> BOOLEAN",
                  "Whether the pattern does not match the whole text: % and _ as in LIKE, | * + ? {n} ( ) [ ] as in regular expressions"),
    make_function("regexp_matches", kTestTypes, matches_part,
                  "regexp_matches(text VARCHAR, pattern VARCHAR [, options VARCHAR]) -> BOOLEAN",
                  "Whether the regular expression matches a part of the text"),
    make_function("regexp_like", kTestTypes, matches_part, "regexp_like(text VARCHAR, pattern VARCHAR [, options VARCHAR]) -> BOOLEAN",
                  "Whether the regular expression matches a part of the text"),
    make_function("regexp_full_match", kTestTypes, matches_whole,
                  "regexp_full_match(text VARCHAR, pattern VARCHAR [, options VARCHAR]) -> BOOLEAN",
                  "Whether the regular expression matches the whole text"),
    make_function("regexp_count", kCountTypes, count_matches, "regexp_count(text VARCHAR, pattern VARCHAR [, options VARCHAR]) -> BIGINT",
                  "Number of matches without overlap"),
    make_function("regexp_instr", kCountTypes, position_of_match,
                  "regexp_instr(text VARCHAR, pattern VARCHAR [, options VARCHAR]) -> BIGINT",
                  "Position of the first match in characters, from 1; 0 if there is none"),
    make_function(
        "regexp_replace", kReplaceTypes, replace_matches,
        "regexp_replace(text VARCHAR, pattern VARCHAR, replacement VARCHAR [, options VARCHAR]) -> VARCHAR",
        "The first match replaced, or all with the option g; \\1 to \\9 in the replacement are groups of the pattern, \\0 the match"),
    make_function("regexp_extract", resolve_regexp_extract, extract_match,
                  "regexp_extract(text VARCHAR, pattern VARCHAR [, group BIGINT [, options VARCHAR]]) -> VARCHAR",
                  "The first match, or what the group with this number matched in it; empty without a match"),
    make_function("regexp_substr", resolve_as<kText, kText, kText>, substring_of_match,
                  "regexp_substr(text VARCHAR, pattern VARCHAR) -> VARCHAR",
                  "The first match, or what the pattern's first group matched in it; NULL without a match"),
    make_function("substring", resolve_as<kText, kText, kText>, substring_of_match,
                  "substring(text VARCHAR FROM pattern VARCHAR) -> VARCHAR",
                  "The first match, or what the pattern's first group matched in it; NULL without a match"),
    make_function("regexp_split_part", resolve_with_options<kText, kText, kText, kWhole>, split_part_by_pattern,
                  "regexp_split_part(text VARCHAR, pattern VARCHAR, number BIGINT [, options VARCHAR]) -> VARCHAR",
                  "The part with that number between matches, from 1, or from the end if negative; empty if there are fewer"),
    make_function("regexp_escape", resolve_as<kText, kText>, escape_pattern, "regexp_escape(text VARCHAR) -> VARCHAR",
                  "A regular expression that matches exactly this text"),
};

}  // namespace

std::span<const Function> pattern_functions() {
  return kPatternFunctions;
}

}  // namespace pistachio
