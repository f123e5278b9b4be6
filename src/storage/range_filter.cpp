#include "storage/range_filter.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

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
  size_t at = text.find_first_of("<>=!");
  for (const Operator& candidate : kOperators) {
    if (at == std::string_view::npos || text.substr(at, candidate.text.size()) != candidate.text) continue;
    std::string_view column = trim(text.substr(0, at));
    std::string_view constant = trim(text.substr(at + candidate.text.size()));
    if (column.size() >= 2 && column.front() == '"' && column.back() == '"') column = column.substr(1, column.size() - 2);
    std::string value(constant);
    if (constant.size() >= 2 && constant.front() == '\'' && constant.back() == '\'') {
      value.clear();
      for (size_t i = 1; i + 1 < constant.size(); ++i) {
        value += constant[i];
        if (constant[i] == '\'' && i + 2 < constant.size() && constant[i + 1] == '\'') ++i;  // '' stands for one quote
      }
    } else if (constant.empty()) {
      break;
    }
    if (column.empty()) break;
    return {std::string(column), candidate.comparison, std::move(value)};
  }
  throw UserError(fmt::format("'{}' is no filter; write \"column op constant\" with op one of = <> < <= > >=", text));
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
    // The constant lies between value and value + 1.
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

bool may_match(const ColumnFilter& filter, const ScalarValue& minimum, const ScalarValue& maximum) {
  if (filter.kind == ColumnFilter::Kind::Never) return false;
  if (filter.kind == ColumnFilter::Kind::NotNull) return true;
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
