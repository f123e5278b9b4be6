#include "expr/date_fields.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "data/calendar.h"
#include "data/scalar_value.h"
#include "expr/interval_value.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

struct FieldName {
  std::string_view name;
  DateField field;
};

// The first name of each field is the one printed.
constexpr FieldName kFieldNames[] = {{"nanoseconds", DateField::Nanoseconds},
                                     {"nanosecond", DateField::Nanoseconds},
                                     {"ns", DateField::Nanoseconds},
                                     {"microseconds", DateField::Microseconds},
                                     {"microsecond", DateField::Microseconds},
                                     {"us", DateField::Microseconds},
                                     {"usec", DateField::Microseconds},
                                     {"usecs", DateField::Microseconds},
                                     {"milliseconds", DateField::Milliseconds},
                                     {"millisecond", DateField::Milliseconds},
                                     {"ms", DateField::Milliseconds},
                                     {"msec", DateField::Milliseconds},
                                     {"msecs", DateField::Milliseconds},
                                     {"second", DateField::Second},
                                     {"seconds", DateField::Second},
                                     {"sec", DateField::Second},
                                     {"secs", DateField::Second},
                                     {"s", DateField::Second},
                                     {"minute", DateField::Minute},
                                     {"minutes", DateField::Minute},
                                     {"min", DateField::Minute},
                                     {"mins", DateField::Minute},
                                     {"m", DateField::Minute},
                                     {"hour", DateField::Hour},
                                     {"hours", DateField::Hour},
                                     {"hr", DateField::Hour},
                                     {"hrs", DateField::Hour},
                                     {"h", DateField::Hour},
                                     {"day", DateField::Day},
                                     {"days", DateField::Day},
                                     {"d", DateField::Day},
                                     {"week", DateField::Week},
                                     {"weeks", DateField::Week},
                                     {"w", DateField::Week},
                                     {"month", DateField::Month},
                                     {"months", DateField::Month},
                                     {"mon", DateField::Month},
                                     {"mons", DateField::Month},
                                     {"quarter", DateField::Quarter},
                                     {"quarters", DateField::Quarter},
                                     {"qtr", DateField::Quarter},
                                     {"year", DateField::Year},
                                     {"years", DateField::Year},
                                     {"yr", DateField::Year},
                                     {"yrs", DateField::Year},
                                     {"y", DateField::Year},
                                     {"decade", DateField::Decade},
                                     {"decades", DateField::Decade},
                                     {"dec", DateField::Decade},
                                     {"decs", DateField::Decade},
                                     {"century", DateField::Century},
                                     {"centuries", DateField::Century},
                                     {"cent", DateField::Century},
                                     {"c", DateField::Century},
                                     {"millennium", DateField::Millennium},
                                     {"millennia", DateField::Millennium},
                                     {"mil", DateField::Millennium},
                                     {"mils", DateField::Millennium},
                                     {"isoyear", DateField::IsoYear},
                                     {"dow", DateField::DayOfWeek},
                                     {"dayofweek", DateField::DayOfWeek},
                                     {"isodow", DateField::IsoDayOfWeek},
                                     {"doy", DateField::DayOfYear},
                                     {"dayofyear", DateField::DayOfYear},
                                     {"epoch", DateField::Epoch}};

template <DateField field>
using FieldConstant = std::integral_constant<DateField, field>;

// Calls `body` with the field as a compile-time constant, so that loops over rows do not branch on it.
template <typename Body>
auto with_field(DateField field, const Body& body) {
  switch (field) {
    case DateField::Nanoseconds: return body(FieldConstant<DateField::Nanoseconds>());
    case DateField::Microseconds: return body(FieldConstant<DateField::Microseconds>());
    case DateField::Milliseconds: return body(FieldConstant<DateField::Milliseconds>());
    case DateField::Second: return body(FieldConstant<DateField::Second>());
    case DateField::Minute: return body(FieldConstant<DateField::Minute>());
    case DateField::Hour: return body(FieldConstant<DateField::Hour>());
    case DateField::Day: return body(FieldConstant<DateField::Day>());
    case DateField::Week: return body(FieldConstant<DateField::Week>());
    case DateField::Month: return body(FieldConstant<DateField::Month>());
    case DateField::Quarter: return body(FieldConstant<DateField::Quarter>());
    case DateField::Year: return body(FieldConstant<DateField::Year>());
    case DateField::Decade: return body(FieldConstant<DateField::Decade>());
    case DateField::Century: return body(FieldConstant<DateField::Century>());
    case DateField::Millennium: return body(FieldConstant<DateField::Millennium>());
    case DateField::IsoYear: return body(FieldConstant<DateField::IsoYear>());
    case DateField::DayOfWeek: return body(FieldConstant<DateField::DayOfWeek>());
    case DateField::IsoDayOfWeek: return body(FieldConstant<DateField::IsoDayOfWeek>());
    case DateField::DayOfYear: return body(FieldConstant<DateField::DayOfYear>());
    case DateField::Epoch: return body(FieldConstant<DateField::Epoch>());
  }
  fail_check(__FILE__, __LINE__, "unknown date field");
}

// SQL has no year 0: 1 BC is -1.
constexpr int64_t shown_year(int64_t year) {
  return year > 0 ? year : year - 1;
}

// Periods of `length` years counted from year 1 (1 to 100 is the first century) and, before it, backwards from -1.
constexpr int64_t period_number(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

constexpr int64_t decade_number(int64_t year) {
  return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
}

template <DateField field>
int64_t field_of_day(int64_t days) {
  if constexpr (field == DateField::Week || field == DateField::IsoYear) {
    IsoWeek week = iso_week(days);
    return field == DateField::Week ? week.week : shown_year(week.year);
  } else if constexpr (field == DateField::DayOfWeek) {
    return floor_modulo(days + 4, 7);
  } else if constexpr (field == DateField::IsoDayOfWeek) {
    return weekday_of(days) + 1;
  } else {
    CivilDate date = civil_from_days(days);
    switch (field) {
      case DateField::Day: return date.day;
      case DateField::Month: return date.month;
      case DateField::Quarter: return (date.month + 2) / 3;
      case DateField::Year: return shown_year(date.year);
      case DateField::Decade: return decade_number(date.year);
      case DateField::Century: return period_number(date.year, 100);
      case DateField::Millennium: return period_number(date.year, 1'000);
      default: return days - days_from_civil(date.year, 1, 1) + 1;  // DayOfYear
    }
  }
}

constexpr bool is_time_field(DateField field) {
  return field <= DateField::Hour;
}

// Fields of microseconds since midnight; all are negative for a negative interval. Seconds in millionths.
template <DateField field>
int64_t field_of_time(int64_t micros) {
  switch (field) {
    case DateField::Hour: return micros / kHourMicros;
    case DateField::Minute: return micros / kMinuteMicros % 60;
    case DateField::Milliseconds: return micros % kMinuteMicros / 1'000;
    case DateField::Nanoseconds: return micros % kMinuteMicros * kMicroNanos;
    default: return micros % kMinuteMicros;  // Second, Microseconds
  }
}

template <DateField field>
int64_t field_of_micros(int64_t micros) {
  if constexpr (is_time_field(field)) return field_of_time<field>(floor_modulo(micros, kDayMicros));
  return field_of_day<field>(days_of_micros(micros));
}

template <DateField field>
int64_t field_of_interval(Interval interval) {
  if constexpr (is_time_field(field)) return field_of_time<field>(interval.micros);
  switch (field) {
    case DateField::Day: return interval.days;
    case DateField::Month: return interval.months % 12;
    case DateField::Quarter: return interval.months % 12 / 3 + 1;
    case DateField::Year: return interval.months / 12;
    case DateField::Decade: return interval.months / 120;
    case DateField::Century: return interval.months / 1'200;
    default: return interval.months / 12'000;  // Millennium
  }
}

// Microseconds; a year of 365.25 days, months of 30.
Int128 epoch_of_interval(Interval interval) {
  Int128 months_micros = Int128{interval.months / 12} * (kDayMicros * 1'461 / 4) + Int128{interval.months % 12} * 30 * kDayMicros;
  return months_micros + Int128{interval.days} * kDayMicros + interval.micros;
}

// In units of 10^-6 seconds, or 10^-9 for types with nanoseconds.
Column extract_epoch(const Argument& argument, int64_t rows) {
  FunctionCall call{{&argument, 1}, rows, field_type(DateField::Epoch, argument.column.type()), {}};
  auto fill = [&](auto source, auto epoch) {
    return fill_wide_rows(call, [&](int64_t row) {
      Int128 micros = epoch(source[row]);
      return WordPair{static_cast<int64_t>(micros), static_cast<int64_t>(micros >> 64)};
    });
  };
  switch (argument.column.type().kind()) {
    case TypeKind::Date: return fill(ArgumentValues<int32_t>(argument), [](int32_t days) { return Int128{days} * kDayMicros; });
    case TypeKind::Interval:
      return fill(ArgumentValues<WordPair>(argument), [](WordPair words) { return epoch_of_interval(unpack_interval(words)); });
    default: return fill(ArgumentValues<int64_t>(argument), [](int64_t units) { return Int128{units}; });
  }
}

// The seconds of the minute in 10^-9, of a type with nanoseconds.
Column nanoseconds_of_minute(DateField field, const Argument& argument, int64_t rows) {
  FunctionCall call{{&argument, 1}, rows, field_type(field, argument.column.type()), {}};
  ArgumentValues<int64_t> nanos(argument);
  return fill_rows<int64_t>(call, [&](int64_t row) { return floor_modulo(nanos[row], kMinuteNanos); });
}

template <DateField field>
int64_t truncated_years(int64_t days) {
  CivilDate date = civil_from_days(days);
  int64_t year = date.year;
  int64_t month = 1;
  switch (field) {
    case DateField::Month: month = date.month; break;
    case DateField::Quarter: month = (date.month - 1) / 3 * 3 + 1; break;
    case DateField::Decade: year = decade_number(year) * 10; break;
    case DateField::Century: year = period_number(year, 100) * 100 - (year > 0 ? 99 : -1); break;
    case DateField::Millennium: year = period_number(year, 1'000) * 1'000 - (year > 0 ? 999 : -1); break;
    default: break;
  }
  return days_from_civil(year, month, 1);
}

template <DateField field>
int64_t truncated_micros(int64_t micros) {
  switch (field) {
    case DateField::Microseconds: return micros;
    case DateField::Milliseconds: return micros - floor_modulo(micros, 1'000);
    case DateField::Second: return micros - floor_modulo(micros, kSecondMicros);
    case DateField::Minute: return micros - floor_modulo(micros, kMinuteMicros);
    case DateField::Hour: return micros - floor_modulo(micros, kHourMicros);
    default: break;
  }
  int64_t days = days_of_micros(micros);
  if constexpr (field == DateField::Week) {
    days -= weekday_of(days);
  } else if constexpr (field != DateField::Day) {
    days = truncated_years<field>(days);
  }
  int64_t result;
  if (days < kFirstDay || __builtin_mul_overflow(days, kDayMicros, &result)) throw UserError("timestamp out of range");
  return result;
}

template <DateField field>
Interval truncated_interval(Interval interval) {
  if constexpr (is_time_field(field)) {
    constexpr int64_t unit = field == DateField::Hour           ? kHourMicros
                             : field == DateField::Minute       ? kMinuteMicros
                             : field == DateField::Second       ? kSecondMicros
                             : field == DateField::Milliseconds ? 1'000
                                                                : 1;
    return {interval.months, interval.days, interval.micros / unit * unit};
  }
  constexpr int32_t months = field == DateField::Quarter      ? 3
                             : field == DateField::Year       ? 12
                             : field == DateField::Decade     ? 120
                             : field == DateField::Century    ? 1'200
                             : field == DateField::Millennium ? 12'000
                                                              : 1;
  return {interval.months / months * months, field == DateField::Day ? interval.days : 0, 0};
}

bool is_truncation_unit(LogicalType type, DateField field) {
  if (type.kind() == TypeKind::Interval && field == DateField::Week) return false;
  return field != DateField::Nanoseconds && field <= DateField::Millennium;
}

DateField parse_unit(std::string_view name, LogicalType type) {
  DateField field = parse_date_field(name);
  if (!is_truncation_unit(type, field))
    throw UserError(fmt::format("date_trunc cannot truncate {} to '{}'", type.to_string(), date_field_name(field)));
  return field;
}

}  // namespace

std::optional<DateField> find_date_field(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const FieldName& known : kFieldNames) {
    if (known.name == lower) return known.field;
  }
  return std::nullopt;
}

DateField parse_date_field(std::string_view name) {
  std::optional<DateField> field = find_date_field(name);
  if (!field)
    throw UserError(fmt::format("'{}' is not a date field: year, quarter, month, week, day, hour, minute, second, epoch, ...", name));
  return *field;
}

std::string_view date_field_name(DateField field) {
  for (const FieldName& known : kFieldNames) {
    if (known.field == field) return known.name;
  }
  return "";
}

std::string extract_function_name(DateField field) {
  return fmt::format("extract {}", date_field_name(field));
}

bool has_field(LogicalType type, DateField field) {
  bool of_period = field == DateField::Day || field == DateField::Month || field == DateField::Quarter || field == DateField::Year ||
                   field == DateField::Decade || field == DateField::Century || field == DateField::Millennium;
  switch (type.kind()) {
    case TypeKind::Date: return !is_time_field(field);
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs: return true;
    case TypeKind::Time:
    case TypeKind::TimeNs: return is_time_field(field) || field == DateField::Epoch;
    case TypeKind::Interval: return is_time_field(field) || field == DateField::Epoch || of_period;
    default: return false;
  }
}

LogicalType field_type(DateField field, LogicalType type) {
  bool nanos = type.has_nanoseconds();
  if (field == DateField::Second) return nanos ? LogicalType::decimal(11, 9) : LogicalType::decimal(8, 6);
  if (field == DateField::Epoch) return nanos ? LogicalType::decimal(19, 9) : LogicalType::decimal(22, 6);
  return TypeKind::BigInt;
}

Argument in_whole_microseconds(const Argument& argument) {
  LogicalType type = argument.column.type();
  if (!type.has_nanoseconds()) return argument;
  at::Tensor micros = at::div(argument.column.values(), kMicroNanos, "floor");
  return {Column::fixed(in_microseconds(type), std::move(micros), argument.column.validity()), argument.is_constant};
}

Column extract_field(DateField field, const Argument& argument, int64_t rows) {
  LogicalType type = argument.column.type();
  if (!has_field(type, field)) throw UserError(fmt::format("{} has no field '{}'", type.to_string(), date_field_name(field)));
  if (field == DateField::Epoch) return extract_epoch(argument, rows);
  if (type.has_nanoseconds()) {
    if (field == DateField::Second || field == DateField::Nanoseconds) return nanoseconds_of_minute(field, argument, rows);
    return extract_field(field, in_whole_microseconds(argument), rows);
  }
  FunctionCall call{{&argument, 1}, rows, field_type(field, type), {}};
  return with_field(field, [&](auto constant) -> Column {
    constexpr DateField chosen = decltype(constant)::value;
    if (type.kind() == TypeKind::Date) {
      ArgumentValues<int32_t> days(argument);
      return fill_rows<int64_t>(call, [&](int64_t row) { return field_of_day<chosen>(days[row]); });
    }
    if (type.kind() == TypeKind::Interval) {
      ArgumentValues<WordPair> intervals(argument);
      return fill_rows<int64_t>(call, [&](int64_t row) { return field_of_interval<chosen>(unpack_interval(intervals[row])); });
    }
    ArgumentValues<int64_t> micros(argument);
    if (type.kind() == TypeKind::Time) return fill_rows<int64_t>(call, [&](int64_t row) { return field_of_time<chosen>(micros[row]); });
    return fill_rows<int64_t>(call, [&](int64_t row) { return field_of_micros<chosen>(micros[row]); });
  });
}

Column truncate_date(const FunctionCall& call) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText units(call.arguments[0]);
  LogicalType type = call.result;
  auto run = [&](auto with_unit) -> Column {
    if (type.kind() == TypeKind::Interval) {
      ArgumentValues<WordPair> intervals(call.arguments[1]);
      return fill_wide_rows(call, [&](int64_t row) {
        return with_unit(
            row, [&](auto unit) { return pack_interval(truncated_interval<decltype(unit)::value>(unpack_interval(intervals[row]))); });
      });
    }
    ArgumentValues<int64_t> micros(in_whole_microseconds(call.arguments[1]));
    return fill_counted_rows<int64_t>(
        call, [&](int64_t row) { return with_unit(row, [&](auto unit) { return truncated_micros<decltype(unit)::value>(micros[row]); }); });
  };
  if (!call.arguments[0].is_constant) {
    return run([&](int64_t row, const auto& body) { return with_field(parse_unit(units[row], type), body); });
  }
  return with_field(parse_unit(units[0], type), [&](auto unit) { return run([&](int64_t, const auto& body) { return body(unit); }); });
}

}  // namespace pistachio
