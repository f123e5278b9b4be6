// Parts of dates, times and intervals: EXTRACT and DATE_TRUNC. Whole fields are BIGINT, seconds DECIMAL(8,6), epochs DECIMAL(22,6); of
// types with nanoseconds they are DECIMAL(11,9) and DECIMAL(19,9).
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

// Any case, also in the plural and by PostgreSQL's abbreviations.
std::optional<DateField> find_date_field(std::string_view name);
// Throws UserError for an unknown name.
DateField parse_date_field(std::string_view name);
std::string_view date_field_name(DateField field);
// The function of one argument that EXTRACT with this constant field is: its result has the field's own type. EXTRACT with a field that is
// no constant has to give DOUBLE.
std::string extract_function_name(DateField field);

bool has_field(LogicalType type, DateField field);
LogicalType field_type(DateField field, LogicalType type);

// A value with nanoseconds cut, towards the past, to the microsecond in which it lies: rounding could move it to another day or year. Other
// values as they are.
Argument in_whole_microseconds(const Argument& argument);

// Of a date, time or interval of any type that has the field; `rows` values.
Column extract_field(DateField field, const Argument& argument, int64_t rows);

// unit, value: INTERVAL or a timestamp. Of one with nanoseconds the result is in microseconds, which hold every unit.
Column truncate_date(const FunctionCall& call);

}  // namespace pistachio
