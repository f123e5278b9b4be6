// Filters that storage can evaluate: column, comparison, constant. `RangeFilter` has the column's name and the constant as text;
// `ColumnFilter` is the filter bound to the column's type, with an exact constant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/scalar_value.h"
#include "kernels/ops/comparison.h"

namespace pistachio {

using kernels::Comparison;

struct RangeFilter {
  std::string column;
  Comparison comparison = Comparison::Equal;
  std::string constant;
  bool only_prunes = false;  // skips row groups and pages; rows are left to a test that implies it
};

// Parses "column op constant"; op is =, <>, !=, <, <=, > or >=; the constant may be in single quotes. Throws UserError.
RangeFilter parse_range_filter(std::string_view text);

struct ColumnFilter {
  enum class Kind {
    Compare,
    NotNull,  // every value passes
    Never,    // no value passes
  };
  Kind kind = Kind::Compare;
  Comparison comparison = Comparison::Equal;
  ScalarValue constant;
};

// Binds a filter to a column's type. For a constant between two values of the type, or outside its range, the comparison is adjusted to
// stay exact: quantity < 3.5 on integers becomes quantity <= 3. Throws UserError if the constant cannot be parsed as the type.
ColumnFilter bind_filter(const RangeFilter& filter, LogicalType type);

// Whether a value between minimum and maximum can pass. NaN sorts above every number but is not in statistics, so the maximum of a
// floating-point column is no upper bound. Text bounds that are not `exact` may be prefixes of actual values, even the maximum: some
// writers truncate it without rounding up.
bool may_match(const ColumnFilter& filter, const ScalarValue& minimum, const ScalarValue& maximum, bool exact = true);

// Whether this value passes; NULL never does.
bool matches(const ColumnFilter& filter, const ScalarValue& value);

}  // namespace pistachio
