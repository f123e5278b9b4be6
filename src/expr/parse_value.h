// Values from text as SQL writes them: what CAST('...' AS type) and typed literals accept. Leading and trailing spaces do not count.
#pragma once

#include <string_view>

#include "data/scalar_value.h"

namespace pistachio {

// Throws UserError when the text is no value of the type or lies outside its range. Decimals round to their scale.
ScalarValue parse_value(LogicalType type, std::string_view text);

// '1 year 2 months 3 days 04:05:06.7', '90' with fields "day", '1-2' with "year to month", ISO 'P1Y2M3DT4H5M6S'.
// `fields` is what stands behind the literal; empty: none.
ScalarValue parse_interval(std::string_view text, std::string_view fields);

// Months, days, microseconds in the form of a ScalarValue.
ScalarValue make_interval(int64_t months, int64_t days, int64_t micros);
struct IntervalParts {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};
IntervalParts interval_parts(const ScalarValue& interval);

}  // namespace pistachio
