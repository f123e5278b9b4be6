#include "storage/range_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace pistachio {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

struct Operator {
  std::string_view text;
  Comparison comparison;
};

// Two-character operators first.
constexpr std::array<Operator, 7> kOperators = {{{"<=", Comparison::LessEqual},
                                                 {">=", Comparison::GreaterEqual},
                                                 {"<>", Comparison::NotEqual},
                                                 {"!=", Comparison::NotEqual},
                                                 {"=", Comparison::Equal},
                                                 {"<", Comparison::Less},
                                                 {">", Comparison::Greater}}};

constexpr std::string_view kOperatorLetters = "<>=!";

[[noreturn]] void refuse_filter(std::string_view text, std::string_view reason) {
  throw UserError(fmt::format("'{}' is not a filter; {}", text, reason));
}

// Removes a quoted word from the front of `rest`; doubled quotes mean one. Nullopt if the closing quote is missing.
std::optional<std::string> take_quoted(std::string_view& rest) {
  const char quote = rest.front();
  std::string word;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      if (i + 1 == rest.size() || rest[i + 1] != quote) {
        rest = trim(rest.substr(i + 1));
        return word;
      }
      ++i;
    }
    word += rest[i];
  }
  return std::nullopt;
}

// Removes the column's name from the front of `rest`, so that the operator is next. Names in double quotes may contain operators.
std::string take_column(std::string_view& rest, std::string_view text) {
  if (rest.starts_with('"')) {
    std::optional<std::string> name = take_quoted(rest);
    if (!name) refuse_filter(text, "the double quote of the column has no end");
    return std::move(*name);
  }
  const size_t end = std::min(rest.find_first_of(kOperatorLetters), rest.size());
  std::string name(trim(rest.substr(0, end)));
  rest.remove_prefix(end);
  return name;
}

// The rest after the operator. On a text column every mistake would become a constant that never matches, so likely ones are
// rejected here: two conditions in one, an unbalanced quote, a doubled operator.
std::string read_constant(std::string_view rest, std::string_view text) {
  if (rest.starts_with('\'')) {
    std::optional<std::string> constant = take_quoted(rest);
    if (!constant) refuse_filter(text, "the quote of the constant has no end");
    if (!rest.empty()) refuse_filter(text, fmt::format("'{}' follows the constant; a filter is one comparison", rest));
    return std::move(*constant);
  }
  if (rest.find_first_of(kOperatorLetters) != std::string_view::npos)
    refuse_filter(text, "it has a second operator; a filter is one comparison, and a constant with < > = ! needs single quotes");
  if (rest.find_first_of("'\"") != std::string_view::npos) refuse_filter(text, "put a constant that holds quotes in single quotes");
  std::string constant(rest);
  std::string word = constant;
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (word == "null") refuse_filter(text, "a comparison with NULL is never true; put the text NULL in single quotes");
  return constant;
}

bool holds(Comparison comparison, std::strong_ordering order) {
  switch (comparison) {
    case Comparison::Equal: return order == 0;
    case Comparison::NotEqual: return order != 0;
    case Comparison::Less: return order < 0;
    case Comparison::LessEqual: return order <= 0;
    case Comparison::Greater: return order > 0;
    case Comparison::GreaterEqual: return order >= 0;
  }
  return false;
}

ColumnFilter::Kind beyond_range(Comparison comparison, bool above) {
  switch (comparison) {
    case Comparison::Equal: return ColumnFilter::Kind::Never;
    case Comparison::NotEqual: return ColumnFilter::Kind::NotNull;
    case Comparison::Less:
    case Comparison::LessEqual: return above ? ColumnFilter::Kind::NotNull : ColumnFilter::Kind::Never;
    case Comparison::Greater:
    case Comparison::GreaterEqual: return above ? ColumnFilter::Kind::Never : ColumnFilter::Kind::NotNull;
  }
  return ColumnFilter::Kind::Compare;
}

}  // namespace

RangeFilter parse_range_filter(std::string_view text) {
  std::string_view rest = trim(text);
  std::string column = take_column(rest, text);
  for (const Operator& candidate : kOperators) {
    if (!rest.starts_with(candidate.text)) continue;
    rest = trim(rest.substr(candidate.text.size()));
    if (column.empty() || rest.empty()) break;
    return {std::move(column), candidate.comparison, read_constant(rest, text)};
  }
  refuse_filter(text, "write \"column op constant\" with op one of = <> < <= > >=");
}

ColumnFilter bind_filter(const RangeFilter& filter, LogicalType type) {
  ParsedConstant parsed{ScalarValue::null(type)};
  try {
    parsed = parse_constant(type, filter.constant);
  } catch (const UserError& error) {
    throw UserError(fmt::format("cannot compare column {} with a constant: {}", filter.column, error.message()));
  }
  ColumnFilter bound{ColumnFilter::Kind::Compare, filter.comparison, parsed.value};
  if (parsed.below || parsed.above) {
    bound.kind = beyond_range(filter.comparison, parsed.above);
  } else if (!parsed.exact) {
    // The constant is between value and value + 1.
    switch (filter.comparison) {
      case Comparison::Equal: bound.kind = ColumnFilter::Kind::Never; break;
      case Comparison::NotEqual: bound.kind = ColumnFilter::Kind::NotNull; break;
      case Comparison::Less:
      case Comparison::LessEqual: bound.comparison = Comparison::LessEqual; break;
      case Comparison::Greater:
      case Comparison::GreaterEqual: bound.comparison = Comparison::Greater; break;
    }
  }
  return bound;
}

bool may_match(const ColumnFilter& filter, const ScalarValue& minimum, const ScalarValue& maximum, bool exact) {
  if (filter.kind == ColumnFilter::Kind::Never) return false;
  if (filter.kind == ColumnFilter::Kind::NotNull) return true;
  if (minimum.is_text() && !exact) {
    if (filter.comparison == Comparison::NotEqual) return true;
    // The untruncated maximum may be above any text that starts with the truncated one.
    if (filter.constant.text.starts_with(maximum.text)) return true;
  }
  if (minimum.type.is_floating()) {
    if (std::isnan(minimum.floating) || std::isnan(maximum.floating) || std::isnan(filter.constant.floating)) return true;
    if (filter.comparison == Comparison::Greater || filter.comparison == Comparison::GreaterEqual ||
        filter.comparison == Comparison::NotEqual)
      return true;
  }
  switch (filter.comparison) {
    case Comparison::Equal: return compare(minimum, filter.constant) <= 0 && compare(filter.constant, maximum) <= 0;
    case Comparison::NotEqual: return compare(minimum, filter.constant) != 0 || compare(filter.constant, maximum) != 0;
    case Comparison::Less: return compare(minimum, filter.constant) < 0;
    case Comparison::LessEqual: return compare(minimum, filter.constant) <= 0;
    case Comparison::Greater: return compare(maximum, filter.constant) > 0;
    case Comparison::GreaterEqual: return compare(maximum, filter.constant) >= 0;
  }
  return true;
}

bool matches(const ColumnFilter& filter, const ScalarValue& value) {
  if (value.is_null || filter.kind == ColumnFilter::Kind::Never) return false;
  return filter.kind == ColumnFilter::Kind::NotNull || holds(filter.comparison, compare(value, filter.constant));
}

}  // namespace pistachio
