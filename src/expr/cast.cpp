#include "expr/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "columns/column_compare.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "data/calendar.h"
#include "expr/floating_conversion.h"
#include "expr/parse_value.h"
#include "expr/type_rules.h"
#include "expr/wide_numbers.h"
#include "expr/work_poll.h"
#include "kernels/ops/checked_arithmetic.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/two_words.h"

namespace pistachio {

namespace {

int scale_of(LogicalType type) {
  return type.kind() == TypeKind::Decimal ? type.scale() : 0;
}

// The largest value of a type represented by integers.
Int128 largest_value(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::TinyInt: return INT8_MAX;
    case TypeKind::SmallInt: return INT16_MAX;
    case TypeKind::Integer:
    case TypeKind::Date: return INT32_MAX;
    case TypeKind::Decimal: return power_of_ten(type.precision()) - 1;
    default: return INT64_MAX;
  }
}

Int128 smallest_value(LogicalType type) {
  return type.kind() == TypeKind::Decimal ? -largest_value(type) : -largest_value(type) - 1;
}

[[noreturn]] void refuse_value(const ScalarValue& value, LogicalType to) {
  throw UserError(fmt::format("{} is out of range for {}", value.to_string(), to.to_string()));
}

// Throws for the first valid row whose value is out of the range of `to`; both in the scale of `to`.
void check_range(const Column& scaled, const Column& original, LogicalType to, const at::Tensor& valid) {
  at::Tensor bad = is_outside(scaled, smallest_value(to), largest_value(to));
  if (valid.defined()) bad.logical_and_(valid);
  if (kernels::count_true(bad) == 0) return;
  refuse_value(value_at(original, bad.nonzero()[0][0].item<int64_t>()), to);
}

// Whether every value of an exact type fits the other.
bool always_fits(LogicalType from, LogicalType to) {
  LogicalType source = as_decimal(from);
  LogicalType target = as_decimal(to);
  if (is_integer(from) && is_integer(to)) return from.value_bytes() <= to.value_bytes();
  int source_whole = source.precision() - source.scale();
  // An integer type holds fewer values than its digits suggest; rounding may carry into another digit.
  int target_whole = target.precision() - target.scale() - (is_integer(to) ? 1 : 0) - (source.scale() > target.scale() ? 1 : 0);
  return source_whole <= target_whole;
}

Column fixed_like(LogicalType type, at::Tensor values, const Column& source) {
  return Column::fixed(type, std::move(values), source.validity());
}

// Between integers and decimals: rescale in the wider representation, check, narrow.
Column cast_exact(const Column& column, LogicalType to, const at::Tensor& valid) {
  LogicalType from = column.type();
  int shift = scale_of(to) - scale_of(from);
  // 64 bits are enough when neither side needs more and multiplying cannot overflow.
  bool narrow = !from.is_wide() && !to.is_wide() && (shift <= 0 || as_decimal(from).precision() + shift <= 18);
  if (narrow) {
    at::Tensor values = column.values().to(at::kLong);
    if (shift > 0) values = values * static_cast<int64_t>(power_of_ten(shift));
    if (shift < 0 && -shift <= 18) {
      at::Tensor divisor = at::full({1}, static_cast<int64_t>(power_of_ten(-shift)), values.options());
      values = kernels::checked_arithmetic(values, kernels::Arithmetic::DivideRounding, divisor, {});
    } else if (shift < -18) {
      values = at::zeros_like(values);
    }
    if (!always_fits(from, to)) check_range(Column::fixed(TypeKind::BigInt, values), column, to, valid);
    return fixed_like(to, values.to(to.scalar_type()), column);
  }
  at::Tensor words = kernels::two_words(column.values());
  if (shift != 0) {
    kernels::Arithmetic operation = shift > 0 ? kernels::Arithmetic::Multiply : kernels::Arithmetic::DivideRounding;
    words = kernels::wide_arithmetic(words, operation, wide_constant(power_of_ten(std::abs(shift)), words.device()), valid);
  }
  if (!always_fits(from, to)) check_range(Column::fixed(LogicalType::decimal(38, 0), words), column, to, valid);
  if (to.is_wide()) return fixed_like(to, words, column);
  return fixed_like(to, words.select(1, 0).contiguous().to(to.scalar_type()), column);
}

// Rounds halves to even, as in PostgreSQL.
Column cast_floating_to_integer(const Column& column, LogicalType to, const at::Tensor& valid) {
  at::Tensor rounded = column.values().to(at::kDouble).round();
  double limit = static_cast<double>(largest_value(to)) + 1;
  double lowest = -limit - (to.kind() == TypeKind::BigInt ? 1025 : 1);
  at::Tensor bad = rounded.ge(limit).logical_or_(rounded.le(lowest)).logical_or_(rounded.isnan());
  at::Tensor counted = valid.defined() ? bad.logical_and(valid) : bad;
  if (kernels::count_true(counted) > 0) refuse_value(value_at(column, counted.nonzero()[0][0].item<int64_t>()), to);
  return fixed_like(to, rounded.masked_fill(bad, 0.0).to(to.scalar_type()), column);
}

Column cast_number(const Column& column, LogicalType to, const at::Tensor& valid) {
  LogicalType from = column.type();
  if (to.kind() == TypeKind::Boolean) {
    if (from.is_wide()) return fixed_like(to, column.values().ne(0).any(1), column);
    return fixed_like(to, column.values().ne(0), column);
  }
  if (from.kind() == TypeKind::Boolean) {
    Column numbers = fixed_like(TypeKind::TinyInt, column.values().to(at::kChar), column);
    return cast_number(numbers, to, valid);
  }
  if (from.is_floating()) {
    if (to.kind() == TypeKind::Decimal) return floating_to_decimal(column, to, valid);
    if (!to.is_floating()) return cast_floating_to_integer(column, to, valid);
    at::Tensor values = column.values().to(to.scalar_type());
    if (to.kind() == TypeKind::Real) {
      at::Tensor bad = values.isinf().logical_and_(column.values().isinf().logical_not());
      if (valid.defined()) bad.logical_and_(valid);
      if (kernels::count_true(bad) > 0) refuse_value(value_at(column, bad.nonzero()[0][0].item<int64_t>()), to);
    }
    return fixed_like(to, std::move(values), column);
  }
  if (to.is_floating()) return fixed_like(to, exact_to_floating(column, to), column);
  return cast_exact(column, to, valid);
}

at::Tensor floor_days(const at::Tensor& times, int64_t day) {
  return at::floor_divide(times, at::full({1}, day, times.options()));
}

int64_t units_of_day(LogicalType type) {
  return type.has_nanoseconds() ? kDayNanos : kDayMicros;
}

// Converts times from the unit of `from` to that of `to`. Nanoseconds are rounded, halves away from zero, as in DuckDB.
at::Tensor with_precision(const at::Tensor& times, LogicalType from, LogicalType to, const Column& source, const at::Tensor& valid) {
  if (from.has_nanoseconds() == to.has_nanoseconds()) return times;
  if (from.has_nanoseconds()) {
    at::Tensor divisor = at::full({1}, kMicroNanos, times.options());
    return kernels::checked_arithmetic(times, kernels::Arithmetic::DivideRounding, divisor, {});
  }
  constexpr int64_t most = INT64_MAX / kMicroNanos;
  at::Tensor bad = times.gt(most).logical_or_(times.lt(-most));
  if (valid.defined()) bad.logical_and_(valid);
  if (kernels::count_true(bad) > 0) refuse_value(value_at(source, bad.nonzero()[0][0].item<int64_t>()), to);
  return times * kMicroNanos;
}

Column cast_date_like(const Column& column, LogicalType to, const at::Tensor& valid) {
  LogicalType from = column.type();
  if (from.kind() == TypeKind::Date) {
    at::Tensor days = column.values().to(at::kLong);
    const int64_t most_days = INT64_MAX / units_of_day(to);
    at::Tensor bad = days.abs().gt(most_days);
    if (valid.defined()) bad.logical_and_(valid);
    if (kernels::count_true(bad) > 0) refuse_value(value_at(column, bad.nonzero()[0][0].item<int64_t>()), to);
    return fixed_like(to, days * units_of_day(to), column);
  }
  const int64_t day = units_of_day(from);
  if (to.kind() == TypeKind::Date) return fixed_like(to, floor_days(column.values(), day).to(at::kInt), column);
  if (is_time_of_day(to)) {
    at::Tensor times = column.values() - floor_days(column.values(), day) * day;
    return fixed_like(to, with_precision(times, from, to, column, valid), column);
  }
  // With and without time zone: both UTC.
  return fixed_like(to, with_precision(column.values(), from, to, column, valid), column);
}

bool is_time_and_interval(LogicalType one, LogicalType other) {
  return is_time_of_day(one) && other.kind() == TypeKind::Interval;
}

// TIME to INTERVAL is the time since midnight; INTERVAL to TIME keeps only the time within a day.
Column cast_time_or_interval(const Column& column, LogicalType to, const at::Tensor& valid) {
  LogicalType from = column.type();
  if (to.kind() == TypeKind::Interval) {
    at::Tensor micros = with_precision(column.values(), from, TypeKind::Time, column, valid);
    return fixed_like(to, at::stack({micros, at::zeros_like(micros)}, 1), column);
  }
  at::Tensor micros = column.values().select(1, 0).contiguous();
  micros = micros - floor_days(micros, kDayMicros) * kDayMicros;
  return fixed_like(to, with_precision(micros, TypeKind::Time, to, column, valid), column);
}

// Values converted at a time. ScalarValues are large and live outside the memory limit.
constexpr int64_t kConvertedTogether = 16'384;

// To and from text value by value; for dictionaries the evaluator calls this once per entry.
Column convert_values(const Column& source, LogicalType to, const at::Tensor& source_valid, const CancelToken* token) {
  Column column = to_device(source, at::kCPU);
  at::Tensor valid = source_valid.defined() ? source_valid.cpu() : source_valid;
  const bool* counts = valid.defined() ? valid.const_data_ptr<bool>() : nullptr;
  WorkPoll poll(token);
  std::vector<Column> pieces;
  for (int64_t begin = 0; begin == 0 || begin < column.rows(); begin += kConvertedTogether) {
    std::vector<ScalarValue> values;
    for (int64_t row = begin; row < std::min(begin + kConvertedTogether, column.rows()); ++row) {
      if (counts != nullptr && !counts[row]) {
        values.push_back(ScalarValue::null(to));
        continue;
      }
      const ScalarValue value = value_at(column, row);
      poll(static_cast<int64_t>(sizeof(ScalarValue) + value.text.size()));
      values.push_back(cast_value(value, to));
      poll(static_cast<int64_t>(values.back().text.size()));
    }
    pieces.push_back(column_of_values(to, values));
  }
  return to_device(concatenate_columns(pieces, token != nullptr ? *token : CancelToken()), source.device());
}

}  // namespace

Int128 power_of_ten(int exponent) {
  ENSURE(exponent >= 0 && exponent <= 38);
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

bool can_cast(LogicalType from, LogicalType to) {
  if (from == to || from.kind() == TypeKind::Varchar) return true;
  if (to.kind() == TypeKind::Varchar) return true;
  bool from_number = is_number(from) || from.kind() == TypeKind::Boolean;
  bool to_number = is_number(to) || to.kind() == TypeKind::Boolean;
  if (from_number && to_number) return true;
  if (is_time_and_interval(from, to) || is_time_and_interval(to, from)) return true;
  if (is_time_of_day(from) && is_time_of_day(to)) return true;
  if (is_date_like(from)) return is_date_like(to) || (is_time_of_day(to) && from.kind() != TypeKind::Date);
  return false;
}

bool cast_can_raise(LogicalType from, LogicalType to) {
  if (from == to || to.kind() == TypeKind::Varchar) return false;
  if (from.is_text()) return true;
  if (from.kind() == TypeKind::Boolean || to.kind() == TypeKind::Boolean) return false;
  if (is_exact_number(from) && is_exact_number(to)) return !always_fits(from, to);
  if (is_number(from)) return !(to.kind() == TypeKind::Double) && !(is_exact_number(from) && to.is_floating());
  // Nanoseconds end in 2262.
  bool narrows = is_date_like(from) && is_date_like(to) && to.has_nanoseconds() && !from.has_nanoseconds();
  return from.kind() == TypeKind::Date || narrows;
}

Column cast_column(const Column& column, LogicalType to, const at::Tensor& valid, const CancelToken* token) {
  LogicalType from = column.type();
  if (from == to) return column;
  ENSURE(can_cast(from, to), "{} to {}", from.to_string(), to.to_string());
  Column plain = decode_dictionary(column);
  at::Tensor counts = both_valid(valid, plain.validity());
  if (from.is_text() || to.is_text()) return convert_values(plain, to, counts, token);
  if (is_date_like(from)) return cast_date_like(plain, to, counts);
  if (is_time_and_interval(from, to) || is_time_and_interval(to, from)) return cast_time_or_interval(plain, to, counts);
  if (is_time_of_day(from)) return fixed_like(to, with_precision(plain.values(), from, to, plain, counts), plain);
  return cast_number(plain, to, counts);
}

ScalarValue cast_value(const ScalarValue& value, LogicalType to) {
  if (value.is_null) return ScalarValue::null(to);
  if (value.type == to) return value;
  if (value.type.kind() == TypeKind::Varchar) return parse_value(to, value.text);
  if (to.kind() == TypeKind::Varchar) return ScalarValue::of_text(to, value.to_string());
  return value_at(cast_column(repeat_value(value, 1), to, {}), 0);
}

}  // namespace pistachio
