// Functions on dates, times and intervals: the table and the argument types of each. All times are UTC.
#include <array>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "data/calendar.h"
#include "expr/argument_access.h"
#include "expr/cast.h"
#include "expr/date_arithmetic.h"
#include "expr/date_fields.h"
#include "expr/date_text.h"
#include "expr/device_bodies.h"
#include "expr/function_table.h"
#include "expr/wide_numbers.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

bool is_whole(LogicalType type, bool literal) {
  return !literal && fits_parameter(type, false, TypeKind::BigInt);
}

bool is_kind(LogicalType type, bool literal, TypeKind kind) {
  return !literal && type.kind() == kind;
}

// Two operands of which at most one is a literal.
bool is_pair(Types types, Literals literals) {
  return types.size() == 2 && !(literals[0] && literals[1]);
}

template <TypeKind left, TypeKind right, TypeKind result>
std::optional<FunctionTypes> resolve_exactly(Types types, Literals literals) {
  if (types.size() != 2 || !is_kind(types[0], literals[0], left) || !is_kind(types[1], literals[1], right)) return std::nullopt;
  return FunctionTypes{{left, right}, result};
}

std::optional<FunctionTypes> resolve_date_plus_days(Types types, Literals literals) {
  if (types.size() != 2) return std::nullopt;
  if (is_kind(types[0], literals[0], TypeKind::Date) && is_whole(types[1], literals[1]))
    return FunctionTypes{{TypeKind::Date, TypeKind::BigInt}, TypeKind::Date};
  if (is_kind(types[1], literals[1], TypeKind::Date) && is_whole(types[0], literals[0]))
    return FunctionTypes{{TypeKind::BigInt, TypeKind::Date}, TypeKind::Date};
  return std::nullopt;
}

std::optional<FunctionTypes> resolve_date_minus_days(Types types, Literals literals) {
  if (types.size() != 2 || !is_kind(types[0], literals[0], TypeKind::Date) || !is_whole(types[1], literals[1])) return std::nullopt;
  return FunctionTypes{{TypeKind::Date, TypeKind::BigInt}, TypeKind::Date};
}

// A literal on one side is a date, too.
std::optional<FunctionTypes> resolve_date_minus_date(Types types, Literals literals) {
  if (!is_pair(types, literals)) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (!literals[i] && types[i].kind() != TypeKind::Date) return std::nullopt;
  }
  return FunctionTypes{{TypeKind::Date, TypeKind::Date}, TypeKind::Integer};
}

std::optional<FunctionTypes> resolve_timestamp_minus_timestamp(Types types, Literals literals) {
  if (!is_pair(types, literals)) return std::nullopt;
  LogicalType left = literals[0] ? types[1] : types[0];
  LogicalType right = literals[1] ? types[0] : types[1];
  if (!is_date_like(left) || !is_date_like(right)) return std::nullopt;
  LogicalType common = *common_type(left, right);
  if (common.kind() == TypeKind::Date) return std::nullopt;
  return FunctionTypes{{common, common}, TypeKind::Interval};
}

LogicalType moment_type(LogicalType type) {
  return type.kind() == TypeKind::Date ? LogicalType(TypeKind::Timestamp) : type;
}

// A literal next to a date or an interval is an interval.
std::optional<FunctionTypes> resolve_date_and_interval(Types types, Literals literals) {
  if (types.size() != 2 || literals[0] || !is_date_like(types[0])) return std::nullopt;
  if (!literals[1] && types[1].kind() != TypeKind::Interval) return std::nullopt;
  return FunctionTypes{{types[0], TypeKind::Interval}, moment_type(types[0])};
}

std::optional<FunctionTypes> resolve_date_interval_sum(Types types, Literals literals) {
  if (types.size() != 2) return std::nullopt;
  if (std::optional<FunctionTypes> match = resolve_date_and_interval(types, literals)) return match;
  if (literals[1] || !is_date_like(types[1]) || (!literals[0] && types[0].kind() != TypeKind::Interval)) return std::nullopt;
  return FunctionTypes{{TypeKind::Interval, types[1]}, moment_type(types[1])};
}

std::optional<FunctionTypes> resolve_time_and_interval(Types types, Literals literals) {
  using enum TypeKind;
  if (std::optional<FunctionTypes> match = resolve_exactly<Time, Interval, Time>(types, literals)) return match;
  return resolve_exactly<TimeNs, Interval, TimeNs>(types, literals);
}

std::optional<FunctionTypes> resolve_time_interval_sum(Types types, Literals literals) {
  using enum TypeKind;
  if (std::optional<FunctionTypes> match = resolve_time_and_interval(types, literals)) return match;
  if (std::optional<FunctionTypes> match = resolve_exactly<Interval, Time, Time>(types, literals)) return match;
  return resolve_exactly<Interval, TimeNs, TimeNs>(types, literals);
}

std::optional<FunctionTypes> resolve_date_and_time(Types types, Literals literals) {
  using enum TypeKind;
  if (std::optional<FunctionTypes> match = resolve_exactly<Date, Time, Timestamp>(types, literals)) return match;
  if (std::optional<FunctionTypes> match = resolve_exactly<Time, Date, Timestamp>(types, literals)) return match;
  if (std::optional<FunctionTypes> match = resolve_exactly<Date, TimeNs, TimestampNs>(types, literals)) return match;
  return resolve_exactly<TimeNs, Date, TimestampNs>(types, literals);
}

// A literal takes the type of the other side.
std::optional<FunctionTypes> resolve_time_minus_time(Types types, Literals literals) {
  if (!is_pair(types, literals)) return std::nullopt;
  LogicalType left = literals[0] ? types[1] : types[0];
  LogicalType right = literals[1] ? types[0] : types[1];
  if (!is_time_of_day(left) || !is_time_of_day(right)) return std::nullopt;
  LogicalType common = *common_type(left, right);
  return FunctionTypes{{common, common}, TypeKind::Interval};
}

template <TypeKind kind>
std::optional<FunctionTypes> resolve_two_of_kind(Types types, Literals literals) {
  if (!is_pair(types, literals)) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (!literals[i] && types[i].kind() != kind) return std::nullopt;
  }
  return FunctionTypes{{kind, kind}, TypeKind::Interval};
}

std::optional<FunctionTypes> resolve_one_interval(Types types, Literals literals) {
  if (types.size() != 1 || !is_kind(types[0], literals[0], TypeKind::Interval)) return std::nullopt;
  return FunctionTypes{{TypeKind::Interval}, TypeKind::Interval};
}

std::optional<FunctionTypes> resolve_interval_and_number(Types types, Literals literals) {
  if (types.size() != 2 || !is_kind(types[0], literals[0], TypeKind::Interval) || (!literals[1] && !is_number(types[1])))
    return std::nullopt;
  return FunctionTypes{{TypeKind::Interval, TypeKind::Double}, TypeKind::Interval};
}

std::optional<FunctionTypes> resolve_interval_product(Types types, Literals literals) {
  if (std::optional<FunctionTypes> match = resolve_interval_and_number(types, literals)) return match;
  if (types.size() != 2 || !is_kind(types[1], literals[1], TypeKind::Interval) || (!literals[0] && !is_number(types[0])))
    return std::nullopt;
  return FunctionTypes{{TypeKind::Double, TypeKind::Interval}, TypeKind::Interval};
}

bool has_fields(LogicalType type) {
  return is_date_like(type) || is_time_of_day(type) || type.kind() == TypeKind::Interval;
}

std::optional<FunctionTypes> resolve_extract(Types types, Literals literals) {
  if (types.size() != 2 || (!literals[0] && types[0].kind() != kText) || literals[1] || !has_fields(types[1])) return std::nullopt;
  return FunctionTypes{{kText, types[1]}, TypeKind::Double};
}

// Integer fields, or seconds and epochs in millionths.
Column as_double(const Column& column) {
  return cast_column(column, TypeKind::Double, {});
}

// The field is usually a constant; otherwise each field that occurs is extracted for all rows.
Column extract(const FunctionCall& call) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText names(call.arguments[0]);
  const Argument& value = call.arguments[1];
  if (call.arguments[0].is_constant) return as_double(extract_field(parse_date_field(names[0]), value, call.rows));
  at::Tensor fields = at::full({call.rows}, -1, at::kLong);
  int64_t* field_of_row = fields.mutable_data_ptr<int64_t>();
  CountedRows counted(call);
  for (int64_t row = 0; row < call.rows; ++row) {
    if (counted[row]) field_of_row[row] = static_cast<int64_t>(parse_date_field(names[row]));
  }
  at::Tensor result = at::zeros({call.rows}, at::kDouble);
  for (int64_t field = 0; field <= static_cast<int64_t>(DateField::Epoch); ++field) {
    at::Tensor mask = fields.eq(field);
    if (!mask.any().item<bool>()) continue;
    result = at::where(mask, as_double(extract_field(static_cast<DateField>(field), value, call.rows)).values(), result);
  }
  return Column::fixed(TypeKind::Double, result);
}

template <DateField field>
std::optional<FunctionTypes> resolve_field(Types types, Literals literals) {
  if (types.size() != 1 || literals[0] || !has_field(types[0], field)) return std::nullopt;
  return FunctionTypes{{types[0]}, field_type(field, types[0])};
}

template <DateField field>
Column extract_one(const FunctionCall& call) {
  return extract_field(field, call.arguments[0], call.rows);
}

template <DateField field>
std::optional<Column> extract_one_on_device(const FunctionCall& call) {
  return extract_on_device(field, call);
}

// EXTRACT(second FROM x) has digits after the point, second(x) has none.
std::optional<FunctionTypes> resolve_whole_second(Types types, Literals literals) {
  std::optional<FunctionTypes> match = resolve_field<DateField::Second>(types, literals);
  if (match) match->result = TypeKind::BigInt;
  return match;
}

Column whole_second(const FunctionCall& call) {
  Column exact = extract_field(DateField::Second, call.arguments[0], call.rows);
  const int64_t second = exact.type().scale() == 9 ? kSecondNanos : kSecondMicros;
  return Column::fixed(TypeKind::BigInt, exact.values().div(second, "trunc"));
}

std::optional<FunctionTypes> resolve_truncation(Types types, Literals literals) {
  if (types.size() != 2 || (!literals[0] && types[0].kind() != kText)) return std::nullopt;
  LogicalType type = literals[1] ? LogicalType(TypeKind::Timestamp) : moment_type(types[1]);
  if (!is_date_like(type) && type.kind() != TypeKind::Interval) return std::nullopt;
  return FunctionTypes{{kText, type}, in_microseconds(type)};
}

bool has_nanoseconds(LogicalType type, bool literal) {
  return !literal && is_date_like(type) && type.has_nanoseconds();
}

// Like resolve_as with a leading TIMESTAMP, or TIMESTAMP_NS, whose nanoseconds are kept.
template <TypeKind result, TypeKind... others>
std::optional<FunctionTypes> resolve_moment(Types types, Literals literals) {
  std::optional<FunctionTypes> match = resolve_as<result, TypeKind::Timestamp, others...>(types, literals);
  if (match || types.empty() || !has_nanoseconds(types[0], literals[0])) return match;
  std::vector<LogicalType> as_micros(types.begin(), types.end());
  as_micros[0] = TypeKind::Timestamp;
  match = resolve_as<result, TypeKind::Timestamp, others...>(as_micros, literals);
  if (match) match->arguments[0] = types[0];
  return match;
}

std::optional<FunctionTypes> resolve_difference(Types types, Literals literals) {
  using enum TypeKind;
  if (types.size() == 3 && (has_nanoseconds(types[1], literals[1]) || has_nanoseconds(types[2], literals[2]))) {
    if (std::optional<FunctionTypes> match = resolve_as<kWhole, kText, TimestampNs, TimestampNs>(types, literals)) return match;
    return resolve_as<kWhole, kText, TimestampTzNs, TimestampTzNs>(types, literals);
  }
  std::optional<FunctionTypes> match = resolve_as<kWhole, kText, TypeKind::Timestamp, TypeKind::Timestamp>(types, literals);
  if (match || types.size() != 3) return match;
  if (!is_date_like(types[1]) || !is_date_like(types[2])) return std::nullopt;
  return resolve_as<kWhole, kText, TypeKind::TimestampTz, TypeKind::TimestampTz>(types, literals);
}

// Replaces nanosecond types by microsecond ones: the arguments are rounded.
std::vector<LogicalType> rounded_types(Types types) {
  std::vector<LogicalType> rounded;
  for (LogicalType type : types) rounded.push_back(is_date_like(type) ? in_microseconds(type) : type);
  return rounded;
}

std::optional<FunctionTypes> resolve_age(Types given, Literals literals) {
  using enum TypeKind;
  std::vector<LogicalType> types = rounded_types(given);
  if (std::optional<FunctionTypes> match = resolve_as<Interval, Timestamp, Timestamp>(types, literals)) return match;
  return resolve_as<Interval, TimestampTz, TimestampTz>(types, literals);
}

std::optional<FunctionTypes> resolve_age_today(Types given, Literals literals) {
  using enum TypeKind;
  std::vector<LogicalType> types = rounded_types(given);
  if (std::optional<FunctionTypes> match = resolve_as<Interval, Timestamp>(types, literals)) return match;
  return resolve_as<Interval, TimestampTz>(types, literals);
}

std::optional<FunctionTypes> resolve_epoch_nanoseconds(Types types, Literals literals) {
  if (types.size() != 1 || literals[0] || !is_date_like(types[0])) return std::nullopt;
  return FunctionTypes{{moment_type(types[0])}, TypeKind::BigInt};
}

int64_t micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Argument constant_of(LogicalType type, int64_t value) {
  return {repeat_value(ScalarValue::of_integer(type, value), 1), true};
}

Column age_today(const FunctionCall& call) {
  int64_t now = micros_now();
  std::array<Argument, 2> arguments = {constant_of(call.arguments[0].column.type(), now - floor_modulo(now, kDayMicros)),
                                       call.arguments[0]};
  return age_between({arguments, call.rows, call.result, call.valid});
}

Column last_day_of_moment(const FunctionCall& call) {
  std::array<Argument, 1> arguments = {Argument{cast_column(call.arguments[0].column, TypeKind::Date, {}), call.arguments[0].is_constant}};
  return last_day_of_month({arguments, call.rows, call.result, call.valid});
}

// One value for all rows.
Column this_moment(const FunctionCall& call) {
  int64_t micros = micros_now();
  if (!call.arguments.empty()) {
    int64_t digits = ArgumentValues<int64_t>(call.arguments[0])[0];
    if (digits < 0) throw UserError("the number of digits must not be negative");
    int64_t unit = 1;
    for (int64_t i = digits; i < 6; ++i) unit *= 10;
    micros = (micros + unit / 2) / unit * unit;
  }
  if (call.result.kind() == TypeKind::Date) micros = days_of_micros(micros);
  if (call.result.kind() == TypeKind::Time) micros = floor_modulo(micros, kDayMicros);
  return repeat_value(ScalarValue::of_integer(call.result, micros), call.rows);
}

template <DateField field>
constexpr Function field_function(std::string_view name, std::string_view signature, std::string_view description) {
  return {.name = name,
          .resolve = resolve_field<field>,
          .evaluate = extract_one<field>,
          .evaluate_on_device = extract_one_on_device<field>,
          .signature = signature,
          .description = description};
}

const std::array kDateFunctions = {
    Function{.name = "+",
             .resolve = resolve_date_plus_days,
             .evaluate = add_days,
             .can_raise = true,
             .signature = "DATE + days BIGINT -> DATE",
             .description = "That many days later; either order"},
    Function{.name = "-",
             .resolve = resolve_date_minus_days,
             .evaluate = subtract_days,
             .can_raise = true,
             .signature = "DATE - days BIGINT -> DATE",
             .description = "That many days earlier"},
    Function{.name = "-",
             .resolve = resolve_date_minus_date,
             .evaluate = subtract_dates,
             .can_raise = true,
             .signature = "DATE - DATE -> INTEGER",
             .description = "Days between two dates"},
    Function{.name = "-",
             .resolve = resolve_timestamp_minus_timestamp,
             .evaluate = subtract_timestamps,
             .can_raise = true,
             .signature = "TIMESTAMP - TIMESTAMP -> INTERVAL",
             .description = "Days and time between two timestamps"},
    Function{.name = "+",
             .resolve = resolve_date_interval_sum,
             .evaluate = add_interval,
             .can_raise = true,
             .signature = "DATE | TIMESTAMP + INTERVAL -> TIMESTAMP",
             .description = "Adds months, then days, then time; a day that the month does not have becomes its last. Either order"},
    Function{.name = "-",
             .resolve = resolve_date_and_interval,
             .evaluate = subtract_interval,
             .can_raise = true,
             .signature = "DATE | TIMESTAMP - INTERVAL -> TIMESTAMP",
             .description = "Subtracts months, then days, then time"},
    Function{.name = "+",
             .resolve = resolve_date_and_time,
             .evaluate = add_date_and_time,
             .can_raise = true,
             .signature = "DATE + TIME -> TIMESTAMP",
             .description = "The timestamp of that day and time; either order"},
    Function{.name = "+",
             .resolve = resolve_time_interval_sum,
             .evaluate = add_interval_to_time,
             .signature = "TIME + INTERVAL -> TIME",
             .description = "Later, wrapping at midnight; months and days are ignored. Either order"},
    Function{.name = "-",
             .resolve = resolve_time_and_interval,
             .evaluate = subtract_interval_from_time,
             .signature = "TIME - INTERVAL -> TIME",
             .description = "Earlier, wrapping at midnight; months and days are ignored"},
    Function{.name = "-",
             .resolve = resolve_time_minus_time,
             .evaluate = subtract_times,
             .signature = "TIME - TIME -> INTERVAL",
             .description = "Time between"},
    Function{.name = "+",
             .resolve = resolve_two_of_kind<TypeKind::Interval>,
             .evaluate = add_intervals,
             .can_raise = true,
             .signature = "INTERVAL + INTERVAL -> INTERVAL",
             .description = "Months, days and time are added separately"},
    Function{.name = "-",
             .resolve = resolve_two_of_kind<TypeKind::Interval>,
             .evaluate = subtract_intervals,
             .can_raise = true,
             .signature = "INTERVAL - INTERVAL -> INTERVAL",
             .description = "Months, days and time are subtracted separately"},
    Function{.name = "-",
             .resolve = resolve_one_interval,
             .evaluate = negate_interval,
             .can_raise = true,
             .signature = "-INTERVAL",
             .description = "The negated interval"},
    Function{
        .name = "*",
        .resolve = resolve_interval_product,
        .evaluate = multiply_interval,
        .can_raise = true,
        .signature = "INTERVAL * number -> INTERVAL",
        .description = "Multiplies the interval; fractions of months become days (30 per month), fractions of days become time. Either order"},
    Function{.name = "/",
             .resolve = resolve_interval_and_number,
             .evaluate = divide_interval,
             .can_raise = true,
             .signature = "INTERVAL / number -> INTERVAL",
             .description = "Divides the interval; fractions of months become days (30 per month), fractions of days become time"},
    Function{.name = "extract",
             .resolve = resolve_extract,
             .evaluate = extract,
             .can_raise = true,
             .signature = "EXTRACT(field FROM value)",
             .description = "A field of a date, time or interval"},
    Function{.name = "date_part",
             .resolve = resolve_extract,
             .evaluate = extract,
             .can_raise = true,
             .signature = "date_part(field VARCHAR, value)",
             .description = "A field of a date, time or interval"},
    Function{.name = "date_trunc",
             .resolve = resolve_truncation,
             .evaluate = truncate_date,
             .can_raise = true,
             .signature = "date_trunc(unit VARCHAR, value DATE | TIMESTAMP | INTERVAL) -> TIMESTAMP | INTERVAL",
             .description = "The start of the microsecond ... millennium that contains the timestamp"},
    field_function<DateField::Nanoseconds>("extract nanoseconds", "EXTRACT(nanoseconds FROM value) -> BIGINT",
                                           "Seconds of the minute in billionths"),
    field_function<DateField::Microseconds>("extract microseconds", "EXTRACT(microseconds FROM value) -> BIGINT",
                                            "Seconds of the minute in millionths"),
    field_function<DateField::Milliseconds>("extract milliseconds", "EXTRACT(milliseconds FROM value) -> BIGINT",
                                            "Seconds of the minute in thousandths"),
    field_function<DateField::Second>("extract second", "EXTRACT(second FROM value) -> DECIMAL(8,6)",
                                      "Seconds of the minute, with six digits after the point; nine for types with nanoseconds"),
    field_function<DateField::Minute>("extract minute", "EXTRACT(minute FROM value) -> BIGINT", "Minutes of the hour"),
    field_function<DateField::Hour>("extract hour", "EXTRACT(hour FROM value) -> BIGINT", "Hours of the day; of an INTERVAL all hours"),
    field_function<DateField::Day>("extract day", "EXTRACT(day FROM value) -> BIGINT", "Day of the month; of an INTERVAL its days"),
    field_function<DateField::Week>("extract week", "EXTRACT(week FROM value) -> BIGINT",
                                    "Number of the ISO week: weeks start on Monday, the first contains the year's first Thursday"),
    field_function<DateField::Month>("extract month", "EXTRACT(month FROM value) -> BIGINT", "Month, 1 to 12; of an INTERVAL 0 to 11"),
    field_function<DateField::Quarter>("extract quarter", "EXTRACT(quarter FROM value) -> BIGINT", "Quarter of the year, 1 to 4"),
    field_function<DateField::Year>("extract year", "EXTRACT(year FROM value) -> BIGINT", "Year; 1 BC is -1"),
    field_function<DateField::Decade>("extract decade", "EXTRACT(decade FROM value) -> BIGINT", "Year divided by ten"),
    field_function<DateField::Century>("extract century", "EXTRACT(century FROM value) -> BIGINT",
                                       "Century; the first begins with the year 1"),
    field_function<DateField::Millennium>("extract millennium", "EXTRACT(millennium FROM value) -> BIGINT",
                                          "Millennium; the first begins with the year 1"),
    field_function<DateField::IsoYear>("extract isoyear", "EXTRACT(isoyear FROM value) -> BIGINT", "Year to which the ISO week belongs"),
    field_function<DateField::DayOfWeek>("extract dow", "EXTRACT(dow FROM value) -> BIGINT", "Day of the week; Sunday is 0"),
    field_function<DateField::IsoDayOfWeek>("extract isodow", "EXTRACT(isodow FROM value) -> BIGINT",
                                            "Day of the week; Monday is 1, Sunday 7"),
    field_function<DateField::DayOfYear>("extract doy", "EXTRACT(doy FROM value) -> BIGINT", "Day of the year, from 1"),
    field_function<DateField::Epoch>(
        "extract epoch", "EXTRACT(epoch FROM value) -> DECIMAL(22,6)",
        "Seconds since 1970-01-01 00:00:00 UTC; of an INTERVAL its length, years of 365.25 and months of 30 days"),
    field_function<DateField::Year>("year", "year(value) -> BIGINT", "Year; 1 BC is -1"),
    field_function<DateField::Month>("month", "month(value) -> BIGINT", "Month, 1 to 12; of an INTERVAL 0 to 11"),
    field_function<DateField::Day>("day", "day(value) -> BIGINT", "Day of the month; of an INTERVAL its days"),
    field_function<DateField::Hour>("hour", "hour(value) -> BIGINT", "Hours of the day; of an INTERVAL all hours"),
    field_function<DateField::Minute>("minute", "minute(value) -> BIGINT", "Minutes of the hour"),
    field_function<DateField::Milliseconds>("millisecond", "millisecond(value) -> BIGINT", "Seconds of the minute in thousandths"),
    field_function<DateField::Microseconds>("microsecond", "microsecond(value) -> BIGINT", "Seconds of the minute in millionths"),
    field_function<DateField::Nanoseconds>("nanosecond", "nanosecond(value) -> BIGINT", "Seconds of the minute in billionths"),
    field_function<DateField::Quarter>("quarter", "quarter(value) -> BIGINT", "Quarter of the year, 1 to 4"),
    field_function<DateField::Week>("week", "week(value) -> BIGINT",
                                    "Number of the ISO week: weeks start on Monday, the first contains the year's first Thursday"),
    field_function<DateField::Week>("weekofyear", "weekofyear(value) -> BIGINT",
                                    "Number of the ISO week: weeks start on Monday, the first contains the year's first Thursday"),
    field_function<DateField::IsoYear>("isoyear", "isoyear(value) -> BIGINT", "Year to which the ISO week belongs"),
    field_function<DateField::DayOfWeek>("dayofweek", "dayofweek(value) -> BIGINT", "Day of the week; Sunday is 0"),
    field_function<DateField::IsoDayOfWeek>("isodow", "isodow(value) -> BIGINT", "Day of the week; Monday is 1, Sunday 7"),
    field_function<DateField::DayOfYear>("dayofyear", "dayofyear(value) -> BIGINT", "Day of the year, from 1"),
    field_function<DateField::Decade>("decade", "decade(value) -> BIGINT", "Year divided by ten"),
    field_function<DateField::Century>("century", "century(value) -> BIGINT", "Century; the first begins with the year 1"),
    field_function<DateField::Millennium>("millennium", "millennium(value) -> BIGINT", "Millennium; the first begins with the year 1"),
    Function{.name = "second",
             .resolve = resolve_whole_second,
             .evaluate = whole_second,
             .signature = "second(value) -> BIGINT",
             .description = "Whole seconds of the minute"},
    Function{.name = "age",
             .resolve = resolve_age,
             .evaluate = age_between,
             .signature = "age(end TIMESTAMP, begin TIMESTAMP) -> INTERVAL",
             .description = "Years, months, days and time between the two"},
    Function{.name = "age",
             .resolve = resolve_age_today,
             .evaluate = age_today,
             .signature = "age(begin TIMESTAMP) -> INTERVAL",
             .description = "Years, months, days and time up to today's midnight"},
    Function{.name = "date_diff",
             .resolve = resolve_difference,
             .evaluate = count_borders,
             .can_raise = true,
             .signature = "date_diff(unit VARCHAR, begin TIMESTAMP, end TIMESTAMP) -> BIGINT",
             .description = "Number of boundaries of the unit between the two"},
    Function{.name = "datediff",
             .resolve = resolve_difference,
             .evaluate = count_borders,
             .can_raise = true,
             .signature = "datediff(unit VARCHAR, begin TIMESTAMP, end TIMESTAMP) -> BIGINT",
             .description = "Number of boundaries of the unit between the two"},
    Function{.name = "last_day",
             .resolve = resolve_as<TypeKind::Date, TypeKind::Date>,
             .evaluate = last_day_of_month,
             .can_raise = true,
             .signature = "last_day(DATE) -> DATE",
             .description = "The last day of the month"},
    Function{.name = "last_day",
             .resolve = resolve_moment<TypeKind::Date>,
             .evaluate = last_day_of_moment,
             .signature = "last_day(TIMESTAMP) -> DATE",
             .description = "The last day of the month"},
    Function{.name = "monthname",
             .resolve = resolve_moment<kText>,
             .evaluate = name_of_month,
             .signature = "monthname(TIMESTAMP) -> VARCHAR",
             .description = "English name of the month"},
    Function{.name = "dayname",
             .resolve = resolve_moment<kText>,
             .evaluate = name_of_day,
             .signature = "dayname(TIMESTAMP) -> VARCHAR",
             .description = "English name of the day of the week"},
    Function{.name = "make_date",
             .resolve = resolve_as<TypeKind::Date, kWhole, kWhole, kWhole>,
             .evaluate = make_date,
             .can_raise = true,
             .signature = "make_date(year BIGINT, month BIGINT, day BIGINT) -> DATE",
             .description = "A date from its parts; years BC are negative"},
    Function{.name = "make_timestamp",
             .resolve = resolve_as<TypeKind::Timestamp, kWhole, kWhole, kWhole, kWhole, kWhole, TypeKind::Double>,
             .evaluate = make_timestamp,
             .can_raise = true,
             .signature = "make_timestamp(year, month, day, hour, minute BIGINT, second DOUBLE) -> TIMESTAMP",
             .description = "A timestamp from its parts; years BC are negative"},
    Function{.name = "to_timestamp",
             .resolve = resolve_as<TypeKind::TimestampTz, TypeKind::Double>,
             .evaluate = timestamp_of_epoch,
             .can_raise = true,
             .signature = "to_timestamp(seconds DOUBLE) -> TIMESTAMP WITH TIME ZONE",
             .description = "The timestamp that many seconds after 1970-01-01 00:00:00 UTC"},
    Function{.name = "make_timestamp_ns",
             .resolve = resolve_as<TypeKind::TimestampNs, kWhole>,
             .evaluate = timestamp_of_nanoseconds,
             .signature = "make_timestamp_ns(nanoseconds BIGINT) -> TIMESTAMP_NS",
             .description = "The timestamp that many nanoseconds after 1970-01-01 00:00:00"},
    Function{.name = "epoch_ns",
             .resolve = resolve_epoch_nanoseconds,
             .evaluate = epoch_nanoseconds,
             .can_raise = true,
             .signature = "epoch_ns(value) -> BIGINT",
             .description = "Nanoseconds since 1970-01-01 00:00:00 UTC"},
    Function{.name = "to_char",
             .resolve = resolve_moment<kText, kText>,
             .evaluate = format_dates,
             .signature = "to_char(TIMESTAMP, format VARCHAR) -> VARCHAR",
             .description = "Text in a format: YYYY MM DD HH24 HH12 MI SS MS US FF1 ... FF9 Mon Month Dy Day Q AM and others; FM leaves "
                            "out padding, TH and th after a number make it 1ST and 1st, other characters are literal"},
    Function{.name = "current_date",
             .resolve = resolve_as<TypeKind::Date>,
             .evaluate = this_moment,
             .signature = "current_date -> DATE",
             .description = "Today (UTC)"},
    Function{.name = "current_timestamp",
             .resolve = resolve_as<TypeKind::TimestampTz>,
             .evaluate = this_moment,
             .signature = "current_timestamp -> TIMESTAMP WITH TIME ZONE",
             .description = "The current time"},
    Function{.name = "current_timestamp",
             .resolve = resolve_as<TypeKind::TimestampTz, kWhole>,
             .evaluate = this_moment,
             .signature = "current_timestamp(digits) -> TIMESTAMP WITH TIME ZONE",
             .description = "The current time, rounded to that many digits of the second"},
    Function{.name = "now",
             .resolve = resolve_as<TypeKind::TimestampTz>,
             .evaluate = this_moment,
             .signature = "now() -> TIMESTAMP WITH TIME ZONE",
             .description = "The current time"},
    Function{.name = "localtimestamp",
             .resolve = resolve_as<TypeKind::Timestamp>,
             .evaluate = this_moment,
             .signature = "localtimestamp -> TIMESTAMP",
             .description = "The current time (UTC)"},
    Function{.name = "localtimestamp",
             .resolve = resolve_as<TypeKind::Timestamp, kWhole>,
             .evaluate = this_moment,
             .signature = "localtimestamp(digits) -> TIMESTAMP",
             .description = "The current time (UTC), rounded to that many digits of the second"},
    Function{.name = "current_time",
             .resolve = resolve_as<TypeKind::Time>,
             .evaluate = this_moment,
             .signature = "current_time -> TIME",
             .description = "The current time of day (UTC)"},
    Function{.name = "current_time",
             .resolve = resolve_as<TypeKind::Time, kWhole>,
             .evaluate = this_moment,
             .signature = "current_time(digits) -> TIME",
             .description = "The current time of day (UTC), rounded to that many digits of the second"},
    Function{.name = "localtime",
             .resolve = resolve_as<TypeKind::Time>,
             .evaluate = this_moment,
             .signature = "localtime -> TIME",
             .description = "The current time of day (UTC)"},
    Function{.name = "localtime",
             .resolve = resolve_as<TypeKind::Time, kWhole>,
             .evaluate = this_moment,
             .signature = "localtime(digits) -> TIME",
             .description = "The current time of day (UTC), rounded to that many digits of the second"},
};

}  // namespace

std::span<const Function> date_functions() {
  return kDateFunctions;
}

}  // namespace pistachio
