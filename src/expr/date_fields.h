// Fields of dates, times and intervals: EXTRACT and DATE_TRUNC. Fields are BIGINT, except seconds, DECIMAL(8,6), and epochs, DECIMAL(22,6);
// for types with nanoseconds, DECIMAL(11,9) and DECIMAL(19,9).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/argument_access.h"
#include "expr/function.h"

namespace pistachio {

enum class DateField {
  Nanoseconds,
  Microseconds,
  Milliseconds,
  Second,
  Minute,
  Hour,
  Day,
  Week,
  Month,
  Quarter,
  Year,
  Decade,
  Century,
  Millennium,
  IsoYear,
  DayOfWeek,
  IsoDayOfWeek,
  DayOfYear,
  Epoch
};

// Case-insensitive; also accepts plurals and PostgreSQL's abbreviations.
std::optional<DateField> find_date_field(std::string_view name);
// Throws UserError for an unknown name.
DateField parse_date_field(std::string_view name);
std::string_view date_field_name(DateField field);
// The unary function for EXTRACT with this constant field; its result has the field's type. EXTRACT of a non-constant field is DOUBLE.
std::string extract_function_name(DateField field);

bool has_field(LogicalType type, DateField field);
LogicalType field_type(DateField field, LogicalType type);

// Truncates nanoseconds to microseconds, towards the past: rounding could move a value to another day or year. Other values are unchanged.
Argument in_whole_microseconds(const Argument& argument);

// For a date, time or interval type that has the field; `rows` values.
Column extract_field(DateField field, const Argument& argument, int64_t rows);

// unit, value: INTERVAL or a timestamp. Nanosecond timestamps yield microseconds, which are precise enough for every unit.
Column truncate_date(const FunctionCall& call);

}  // namespace pistachio
