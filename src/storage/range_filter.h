// Filters that storage understands: column, comparison, constant. `RangeFilter` is what a caller asks for, by name and with the constant as
// text or value; `ColumnFilter` is the same bound to a column's type, after which the constant is exact.
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
};

// Parses "column op constant"; op is =, <>, !=, <, <=, > or >=; the constant may stand in single quotes. Throws UserError.
RangeFilter parse_range_filter(std::string_view text);

struct ColumnFilter {
  enum class Kind {
    Compare,
    NotNull,  // the comparison holds for every value
    Never,    // ... for none
  };
  Kind kind = Kind::Compare;
  Comparison comparison = Comparison::Equal;
  ScalarValue constant;
};

// Binds a filter to a column's type. A constant between two values of the type, or outside its range, changes the comparison so that it
// stays exact: quantity < 3.5 on integers becomes quantity <= 3. Throws UserError when the constant is no value of the type.
ColumnFilter bind_filter(const RangeFilter& filter, LogicalType type);

// Can a value between minimum and maximum pass? NaN is above every number and left out of statistics, so the maximum of a floating-point
// column bounds nothing. Text bounds that are not `exact` may be prefixes of the values they stand for, the maximum, too: some writers cut
// it without rounding it up.
bool may_match(const ColumnFilter& filter, const ScalarValue& minimum, const ScalarValue& maximum, bool exact = true);

// Does this value pass?
bool matches(const ColumnFilter& filter, const ScalarValue& value);

}  // namespace pistachio
