// Parses INTERVAL values as PostgreSQL does, and truncates them to the fields given after a literal.
#pragma once

#include <string_view>

#include "data/scalar_value.h"

namespace pistachio {

// '1 year 2 months 3 days 04:05:06.7', '90' with fields "day", '1-2' with "year to month", ISO 'P1Y2M3DT4H5M6S'.
// `fields` follows the literal ("day to hour"); smaller fields are truncated; empty: none given.
// Throws UserError if the text is malformed or out of range.
ScalarValue parse_interval(std::string_view text, std::string_view fields);

// Packs months, days and microseconds. Throws UserError if months or days exceed 32 bits.
ScalarValue make_interval(int64_t months, int64_t days, int64_t micros);

struct IntervalParts {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};
IntervalParts interval_parts(const ScalarValue& interval);

}  // namespace pistachio
