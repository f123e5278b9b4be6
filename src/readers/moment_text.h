// Dates and times as text files write them: 2020-01-02, 2/1/2020, 10:11, 2020-01-02T10:11:12.345Z. Numbers in the order of the dialect,
// separated by -, /, . or a space. Stricter than CAST, so that a text that only looks like a date is not taken for one. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "readers/text_dialect.h"

namespace pistachio {

// Days since 1970-01-01.
std::optional<int64_t> read_date_text(std::string_view text, DateOrder order);
// Microseconds since midnight; 24:00:00 at most.
std::optional<int64_t> read_time_text(std::string_view text);

struct TimestampText {
  int64_t micros = 0;  // since 1970-01-01; UTC if there is a zone
  bool has_zone = false;
};
// A date, then T or a space, then a time, perhaps with a zone (Z, +01, +01:00).
std::optional<TimestampText> read_timestamp_text(std::string_view text, DateOrder order);

}  // namespace pistachio
