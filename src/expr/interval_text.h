// INTERVAL values from text, as PostgreSQL reads them, and the cut to the fields that stand behind a literal.
#pragma once

#include <string_view>

#include "data/scalar_value.h"

namespace pistachio {

// '1 year 2 months 3 days 04:05:06.7', '90' with fields "day", '1-2' with "year to month", ISO 'P1Y2M3DT4H5M6S'.
// `fields` is what stands behind the literal ("day to hour"), and smaller fields are cut off; empty: none.
// Throws UserError for text that is no interval and for one out of range.
ScalarValue parse_interval(std::string_view text, std::string_view fields);

// Months, days, microseconds in the form of a ScalarValue. Throws UserError where 32 bits do not hold months or days.
ScalarValue make_interval(int64_t months, int64_t days, int64_t micros);

struct IntervalParts {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};
IntervalParts interval_parts(const ScalarValue& interval);

}  // namespace pistachio
