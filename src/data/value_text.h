// Formats values as SQL prints them; the only implementation. Appends to a string, so that large results need no further allocations.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "data/scalar_value.h"

namespace pistachio {

void append_integer(std::string& text, int64_t value);
// With `scale` digits after the point: 12.50
void append_scaled_integer(std::string& text, Int128 value, int scale);
// The shortest digits that round-trip.
void append_real(std::string& text, float value);
void append_double(std::string& text, double value);
// Days since 1970-01-01: 1995-01-31, and 0044-03-15 BC.
void append_date(std::string& text, int64_t days);
// Microseconds since midnight: 23:59:59.5
void append_time(std::string& text, int64_t micros);
// Microseconds since 1970-01-01: 1995-01-31 12:00:00 and the zone.
void append_timestamp(std::string& text, int64_t micros, std::string_view zone);
// The same in nanoseconds, with up to nine digits after the point.
void append_time_ns(std::string& text, int64_t nanos);
void append_timestamp_ns(std::string& text, int64_t nanos, std::string_view zone);
// As data/logical_type.h packs it: 1 year 2 mons 3 days 04:05:06.7
void append_interval(std::string& text, Int128 packed);
// \x and two hex digits per byte.
void append_bytes(std::string& text, std::string_view bytes);

}  // namespace pistachio
