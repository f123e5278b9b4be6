#include "expr/date_arithmetic.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "data/calendar.h"
#include "data/scalar_value.h"
#include "expr/argument_access.h"
#include "expr/date_fields.h"
#include "expr/interval_value.h"

namespace pistachio {

namespace {

[[noreturn]] void refuse_range(std::string_view what) {
  throw UserError(fmt::format("{} out of range", what));
}

template <typename Value>
Value checked(Int128 value, std::string_view what) {
  if (value > std::numeric_limits<Value>::max() || value < std::numeric_limits<Value>::min()) refuse_range(what);
  return static_cast<Value>(value);
}

int32_t checked_date(Int128 days) {
  if (days < kFirstDay || days > kLastDay) refuse_range("date");
  return static_cast<int32_t>(days);
}

int64_t checked_timestamp(Int128 micros) {
  if (micros < kFirstMicros) refuse_range("timestamp");
  return checked<int64_t>(micros, "timestamp");
}

// The operand of this type first, then the other.
std::pair<const Argument*, const Argument*> ordered(const FunctionCall& call, TypeKind first) {
  const Argument& left = call.arguments[0];
  const Argument& right = call.arguments[1];
  return left.column.type().kind() == first ? std::pair(&left, &right) : std::pair(&right, &left);
}

// Months, then days, then time; each step must stay within the calendar.
int64_t shifted_timestamp(int64_t days, int64_t time, Interval interval, int sign) {
  if (interval.months != 0) days = add_months(days, int64_t{interval.months} * sign);
  int64_t micros = checked_timestamp(Int128{days} * kDayMicros + time);
  micros = checked_timestamp(Int128{micros} + Int128{interval.days} * sign * kDayMicros);
  return checked_timestamp(Int128{micros} + Int128{interval.micros} * sign);
}

// Intermediate steps may leave the short range of nanoseconds; the sum may not.
int64_t shifted_nanoseconds(int64_t nanos, Interval interval, int sign) {
  int64_t days = floor_divide(nanos, kDayNanos);
  int64_t time = floor_modulo(nanos, kDayNanos);
  if (interval.months != 0) days = add_months(days, int64_t{interval.months} * sign);
  Int128 shift = Int128{interval.days} * kDayNanos + Int128{interval.micros} * kMicroNanos;
  return checked<int64_t>(Int128{days} * kDayNanos + time + shift * sign, "timestamp with nanoseconds");
}

// Rounds halves away from zero, as in casts.
int64_t rounded_to_micros(Int128 nanos) {
  constexpr int64_t half = kMicroNanos / 2;
  return static_cast<int64_t>((nanos + (nanos < 0 ? -half : half)) / kMicroNanos);
}

Column shift_by_interval(const FunctionCall& call, int sign) {
  auto [interval, date] = ordered(call, TypeKind::Interval);
  ArgumentValues<WordPair> intervals(*interval);
  if (date->column.type().kind() == TypeKind::Date) {
    ArgumentValues<int32_t> days(*date);
    return fill_counted_rows<int64_t>(call,
                                      [&](int64_t row) { return shifted_timestamp(days[row], 0, unpack_interval(intervals[row]), sign); });
  }
  ArgumentValues<int64_t> micros(*date);
  if (call.result.has_nanoseconds()) {
    return fill_counted_rows<int64_t>(
        call, [&](int64_t row) { return shifted_nanoseconds(micros[row], unpack_interval(intervals[row]), sign); });
  }
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    int64_t days = days_of_micros(micros[row]);
    return shifted_timestamp(days, micros[row] - days * kDayMicros, unpack_interval(intervals[row]), sign);
  });
}

Column shift_time(const FunctionCall& call, int sign) {
  auto [interval, time] = ordered(call, TypeKind::Interval);
  ArgumentValues<WordPair> intervals(*interval);
  ArgumentValues<int64_t> times(*time);
  const int64_t unit = call.result.has_nanoseconds() ? kMicroNanos : 1;
  return fill_rows<int64_t>(call, [&](int64_t row) {
    return floor_modulo(times[row] + intervals[row].low % kDayMicros * unit * sign, kDayMicros * unit);
  });
}

WordPair combined(Interval left, Interval right, int sign) {
  return pack_interval({checked<int32_t>(Int128{left.months} + Int128{right.months} * sign, "interval"),
                        checked<int32_t>(Int128{left.days} + Int128{right.days} * sign, "interval"),
                        checked<int64_t>(Int128{left.micros} + Int128{right.micros} * sign, "interval")});
}

Column combine_intervals(const FunctionCall& call, int sign) {
  ArgumentValues<WordPair> left(call.arguments[0]);
  ArgumentValues<WordPair> right(call.arguments[1]);
  return fill_wide_rows(call, [&](int64_t row) { return combined(unpack_interval(left[row]), unpack_interval(right[row]), sign); });
}

template <typename Value>
Value checked_double(double value) {
  // 2^31 and 2^63 are exact doubles, the largest values below them may not be.
  double limit = std::ldexp(1.0, std::numeric_limits<Value>::digits);
  if (!(value >= -limit && value < limit)) refuse_range("interval");
  return static_cast<Value>(value);
}

double to_micros(double seconds) {
  return std::rint(seconds * 1e6) / 1e6;
}

// Fractions of months become days (30 per month), fractions of days become time (PostgreSQL's interval_mul).
WordPair scaled(double months, double days, double micros) {
  constexpr double day_seconds = 86'400;
  Interval result{checked_double<int32_t>(months), checked_double<int32_t>(days), 0};
  double month_days = to_micros((months - result.months) * 30);
  double seconds = to_micros((days - result.days + month_days - std::trunc(month_days)) * day_seconds);
  double whole_days = result.days;
  if (std::abs(seconds) >= day_seconds) {
    whole_days += std::trunc(seconds / day_seconds);
    seconds -= std::trunc(seconds / day_seconds) * day_seconds;
  }
  result.days = checked_double<int32_t>(whole_days + std::trunc(month_days));
  result.micros = checked_double<int64_t>(std::rint(micros + seconds * 1e6));
  return pack_interval(result);
}

// Differences field by field with borrowing; days borrow the length of the earlier month (PostgreSQL's timestamp_age).
WordPair age_of(int64_t end, int64_t begin) {
  bool negative = end < begin;
  int64_t late = negative ? begin : end;
  int64_t early = negative ? end : begin;
  int64_t late_days = days_of_micros(late);
  int64_t early_days = days_of_micros(early);
  CivilDate last = civil_from_days(late_days);
  CivilDate first = civil_from_days(early_days);
  int64_t time = (late - late_days * kDayMicros) - (early - early_days * kDayMicros);
  int64_t days = last.day - first.day;
  int64_t months = (int64_t{last.year} - first.year) * 12 + last.month - first.month;
  if (time < 0) {
    time += kDayMicros;
    --days;
  }
  if (days < 0) {
    // PostgreSQL uses the month of the earlier argument, whichever that is.
    days += days_in_month(first.year, first.month);
    --months;
  }
  int sign = negative ? -1 : 1;
  return pack_interval({static_cast<int32_t>(months * sign), static_cast<int32_t>(days * sign), time * sign});
}

int64_t border_number(DateField unit, int64_t micros) {
  int64_t days = days_of_micros(micros);
  switch (unit) {
    case DateField::Nanoseconds:
    case DateField::Microseconds: return micros;
    case DateField::Milliseconds: return floor_divide(micros, 1'000);
    case DateField::Second: return floor_divide(micros, kSecondMicros);
    case DateField::Minute: return floor_divide(micros, kMinuteMicros);
    case DateField::Hour: return floor_divide(micros, kHourMicros);
    case DateField::Day:
    case DateField::DayOfWeek:
    case DateField::IsoDayOfWeek:
    case DateField::DayOfYear: return days;
    case DateField::Week: return floor_divide(days + 3, 7);
    case DateField::IsoYear: return iso_week(days).year;
    case DateField::Epoch: return floor_divide(micros, kSecondMicros);
    default: break;
  }
  CivilDate date = civil_from_days(days);
  switch (unit) {
    case DateField::Month: return int64_t{date.year} * 12 + date.month;
    case DateField::Quarter: return int64_t{date.year} * 4 + (date.month - 1) / 3;
    case DateField::Decade: return floor_divide(date.year, 10);
    case DateField::Century: return floor_divide(date.year - 1, 100);
    case DateField::Millennium: return floor_divide(date.year - 1, 1'000);
    default: return date.year;
  }
}

// Years before Christ are negative; there is no year 0.
int64_t checked_days(int64_t year, int64_t month, int64_t day) {
  constexpr int64_t most = 6'000'000;
  bool known = year != 0 && year > -most && year < most && month >= 1 && month <= 12 && day >= 1;
  int64_t counted = year < 0 ? year + 1 : year;
  if (!known || day > days_in_month(counted, month)) throw UserError(fmt::format("{}-{}-{} is not a valid date", year, month, day));
  return days_from_civil(counted, month, day);
}

}  // namespace

Column add_days(const FunctionCall& call) {
  auto [date, count] = ordered(call, TypeKind::Date);
  ArgumentValues<int32_t> days(*date);
  ArgumentValues<int64_t> counts(*count);
  return fill_counted_rows<int32_t>(call, [&](int64_t row) { return checked_date(Int128{days[row]} + counts[row]); });
}

Column subtract_days(const FunctionCall& call) {
  ArgumentValues<int32_t> days(call.arguments[0]);
  ArgumentValues<int64_t> counts(call.arguments[1]);
  return fill_counted_rows<int32_t>(call, [&](int64_t row) { return checked_date(Int128{days[row]} - counts[row]); });
}

Column subtract_dates(const FunctionCall& call) {
  ArgumentValues<int32_t> left(call.arguments[0]);
  ArgumentValues<int32_t> right(call.arguments[1]);
  return fill_counted_rows<int32_t>(call, [&](int64_t row) { return checked<int32_t>(Int128{left[row]} - right[row], "number"); });
}

Column add_interval(const FunctionCall& call) {
  return shift_by_interval(call, 1);
}

Column subtract_interval(const FunctionCall& call) {
  return shift_by_interval(call, -1);
}

Column add_date_and_time(const FunctionCall& call) {
  auto [date, time] = ordered(call, TypeKind::Date);
  ArgumentValues<int32_t> days(*date);
  ArgumentValues<int64_t> times(*time);
  if (call.result.has_nanoseconds()) {
    return fill_counted_rows<int64_t>(call, [&](int64_t row) {
      return checked<int64_t>(Int128{days[row]} * kDayNanos + times[row], "timestamp with nanoseconds");
    });
  }
  return fill_counted_rows<int64_t>(
      call, [&](int64_t row) { return checked_timestamp(Int128{days[row]} * kDayMicros + times[row]); });
}

Column subtract_timestamps(const FunctionCall& call) {
  ArgumentValues<int64_t> left(call.arguments[0]);
  ArgumentValues<int64_t> right(call.arguments[1]);
  const bool nanos = call.arguments[0].column.type().has_nanoseconds();
  return fill_wide_rows(call, [&](int64_t row) {
    Int128 difference = Int128{left[row]} - right[row];
    int64_t micros = nanos ? rounded_to_micros(difference) : checked<int64_t>(difference, "interval");
    return pack_interval({0, static_cast<int32_t>(micros / kDayMicros), micros % kDayMicros});
  });
}

Column add_interval_to_time(const FunctionCall& call) {
  return shift_time(call, 1);
}

Column subtract_interval_from_time(const FunctionCall& call) {
  return shift_time(call, -1);
}

Column subtract_times(const FunctionCall& call) {
  ArgumentValues<int64_t> left(call.arguments[0]);
  ArgumentValues<int64_t> right(call.arguments[1]);
  const bool nanos = call.arguments[0].column.type().has_nanoseconds();
  return fill_wide_rows(call, [&](int64_t row) {
    int64_t difference = left[row] - right[row];
    return pack_interval({0, 0, nanos ? rounded_to_micros(difference) : difference});
  });
}

Column add_intervals(const FunctionCall& call) {
  return combine_intervals(call, 1);
}

Column subtract_intervals(const FunctionCall& call) {
  return combine_intervals(call, -1);
}

Column negate_interval(const FunctionCall& call) {
  ArgumentValues<WordPair> intervals(call.arguments[0]);
  return fill_wide_rows(call, [&](int64_t row) { return combined({0, 0, 0}, unpack_interval(intervals[row]), -1); });
}

Column multiply_interval(const FunctionCall& call) {
  auto [interval, factor] = ordered(call, TypeKind::Interval);
  ArgumentValues<WordPair> intervals(*interval);
  ArgumentValues<double> factors(*factor);
  return fill_wide_rows(call, [&](int64_t row) {
    Interval value = unpack_interval(intervals[row]);
    double times = factors[row];
    return scaled(value.months * times, value.days * times, static_cast<double>(value.micros) * times);
  });
}

Column divide_interval(const FunctionCall& call) {
  ArgumentValues<WordPair> intervals(call.arguments[0]);
  ArgumentValues<double> divisors(call.arguments[1]);
  return fill_wide_rows(call, [&](int64_t row) {
    Interval value = unpack_interval(intervals[row]);
    double divisor = divisors[row];
    if (divisor == 0) throw UserError("division by zero");
    return scaled(value.months / divisor, value.days / divisor, static_cast<double>(value.micros) / divisor);
  });
}

Column age_between(const FunctionCall& call) {
  ArgumentValues<int64_t> end(call.arguments[0]);
  ArgumentValues<int64_t> begin(call.arguments[1]);
  return fill_wide_rows(call, [&](int64_t row) { return age_of(end[row], begin[row]); });
}

Column count_borders(const FunctionCall& call) {
  if (!any_row_counts(call)) return placeholder_rows(call);
  ArgumentText units(call.arguments[0]);
  ArgumentValues<int64_t> from(in_whole_microseconds(call.arguments[1]));
  ArgumentValues<int64_t> to(in_whole_microseconds(call.arguments[2]));
  ArgumentValues<int64_t> exact_from(call.arguments[1]);
  ArgumentValues<int64_t> exact_to(call.arguments[2]);
  const int64_t nanos = call.arguments[1].column.type().has_nanoseconds() ? 1 : kMicroNanos;
  std::optional<DateField> unit;
  if (call.arguments[0].is_constant) unit = parse_date_field(units[0]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    DateField own = unit ? *unit : parse_date_field(units[row]);
    if (own == DateField::Nanoseconds) return checked<int64_t>((Int128{exact_to[row]} - exact_from[row]) * nanos, "number");
    return checked<int64_t>(Int128{border_number(own, to[row])} - border_number(own, from[row]), "number");
  });
}

Column last_day_of_month(const FunctionCall& call) {
  ArgumentValues<int32_t> days(call.arguments[0]);
  return fill_counted_rows<int32_t>(call, [&](int64_t row) {
    CivilDate date = civil_from_days(days[row]);
    return checked_date(Int128{days[row]} + days_in_month(date.year, date.month) - date.day);
  });
}

Column make_date(const FunctionCall& call) {
  ArgumentValues<int64_t> year(call.arguments[0]);
  ArgumentValues<int64_t> month(call.arguments[1]);
  ArgumentValues<int64_t> day(call.arguments[2]);
  return fill_counted_rows<int32_t>(call,
                                    [&](int64_t row) { return checked_date(checked_days(year[row], month[row], day[row])); });
}

Column make_timestamp(const FunctionCall& call) {
  ArgumentValues<int64_t> year(call.arguments[0]);
  ArgumentValues<int64_t> month(call.arguments[1]);
  ArgumentValues<int64_t> day(call.arguments[2]);
  ArgumentValues<int64_t> hour(call.arguments[3]);
  ArgumentValues<int64_t> minute(call.arguments[4]);
  ArgumentValues<double> second(call.arguments[5]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    int64_t days = checked_days(year[row], month[row], day[row]);
    bool known = hour[row] >= 0 && hour[row] <= 24 && minute[row] >= 0 && minute[row] < 60 && second[row] >= 0 && second[row] <= 60;
    int64_t micros = known ? hour[row] * kHourMicros + minute[row] * kMinuteMicros + std::llrint(second[row] * 1e6) : -1;
    if (micros < 0 || micros > kDayMicros) throw UserError(fmt::format("{}:{}:{} is not a valid time", hour[row], minute[row], second[row]));
    return checked_timestamp(Int128{days} * kDayMicros + micros);
  });
}

Column timestamp_of_epoch(const FunctionCall& call) {
  ArgumentValues<double> seconds(call.arguments[0]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    double micros = std::rint(seconds[row] * 1e6);
    if (!(std::abs(micros) < std::ldexp(1.0, 63))) refuse_range("timestamp");
    return static_cast<int64_t>(micros);
  });
}

Column epoch_nanoseconds(const FunctionCall& call) {
  const Argument& moment = call.arguments[0];
  if (moment.column.type().has_nanoseconds()) return Column::fixed(call.result, moment.expanded(call.rows).values());
  ArgumentValues<int64_t> micros(moment);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return checked<int64_t>(Int128{micros[row]} * kMicroNanos, "number"); });
}

Column timestamp_of_nanoseconds(const FunctionCall& call) {
  return Column::fixed(call.result, call.arguments[0].expanded(call.rows).values());
}

}  // namespace pistachio
