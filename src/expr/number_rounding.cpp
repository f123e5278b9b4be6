#include "expr/number_rounding.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "expr/exact_numbers.h"

namespace pistachio {

namespace {

template <typename Value>
Column absolute_of(const FunctionCall& call) {
  ArgumentValues<Value> values(call.arguments[0]);
  return fill_counted_rows<Value>(call, [&](int64_t row) -> Value {
    Value value = values[row];
    if constexpr (std::is_integral_v<Value>) {
      if (value == std::numeric_limits<Value>::min()) throw UserError("number out of range");
      return static_cast<Value>(value < 0 ? -value : value);
    } else {
      return std::abs(value);
    }
  });
}

enum class Rounding { Nearest, Down, Up, TowardZero };

// The divisor is positive.
template <Rounding rounding, typename Number>
Number divide_rounding(Number value, Number divisor) {
  Number quotient = value / divisor;
  Number rest = value % divisor;
  if constexpr (rounding == Rounding::Nearest) {
    Number magnitude = rest < 0 ? -rest : rest;
    return quotient + (magnitude >= divisor - magnitude ? (value < 0 ? -1 : 1) : 0);
  }
  if constexpr (rounding == Rounding::Down) return quotient - (rest < 0);
  if constexpr (rounding == Rounding::Up) return quotient + (rest > 0);
  return quotient;
}

template <Rounding rounding>
double round_double(double value) {
  switch (rounding) {
    case Rounding::Nearest: return std::rint(value);
    case Rounding::Down: return std::floor(value);
    case Rounding::Up: return std::ceil(value);
    case Rounding::TowardZero: return std::trunc(value);
  }
  return value;
}

template <Rounding rounding>
Column round_whole(const FunctionCall& call) {
  if (call.result.is_floating()) {
    ArgumentValues<double> values(call.arguments[0]);
    return fill_rows<double>(call, [&](int64_t row) { return round_double<rounding>(values[row]); });
  }
  return with_number_width(call, [&](auto width) {
    using Number = decltype(width);
    ArgumentNumbers<Number> numbers(call.arguments[0]);
    Number divisor = static_cast<Number>(power_of_ten(call.arguments[0].column.type().scale()));
    return fill_decimals<Number>(call, [&](int64_t row) { return divide_rounding<rounding>(numbers[row], divisor); });
  });
}

// Rounds (halves away from zero) or truncates in decimal and returns the nearest DOUBLE.
template <Rounding rounding>
double round_double_to(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 308) return value;
  if (digits < -308) return 0;
  double power = std::pow(10.0, static_cast<double>(std::abs(digits)));
  double scaled = digits >= 0 ? value * power : value / power;
  if (!std::isfinite(scaled)) return value;
  scaled = rounding == Rounding::Nearest ? std::round(scaled) : std::trunc(scaled);
  double result = digits >= 0 ? scaled / power : scaled * power;
  if (!std::isfinite(result)) throw UserError("number out of range");
  return result;
}

template <Rounding rounding>
Column round_digits(const FunctionCall& call) {
  ArgumentValues<int64_t> digits(call.arguments[1]);
  if (call.result.is_floating()) {
    ArgumentValues<double> values(call.arguments[0]);
    return fill_counted_rows<double>(call, [&](int64_t row) { return round_double_to<rounding>(values[row], digits[row]); });
  }
  int scale = call.arguments[0].column.type().scale();
  ArgumentNumbers<Int128> numbers(call.arguments[0]);
  return fill_decimals<Int128>(call, [&](int64_t row) -> Int128 {
    if (digits[row] >= scale) return numbers[row];
    if (digits[row] < scale - 38) return 0;
    Int128 unit = power_of_ten(static_cast<int>(scale - digits[row]));
    Int128 units = divide_rounding<rounding>(numbers[row], unit);
    // 0.5 * 10^38 rounds up to 10^38, which exceeds DECIMAL; fill_decimals rejects it.
    return units * unit;
  });
}

}  // namespace

Column absolute_value(const FunctionCall& call) {
  if (call.result.is_wide()) {
    ArgumentNumbers<Int128> numbers(call.arguments[0]);
    return fill_decimals<Int128>(call, [&](int64_t row) { return numbers[row] < 0 ? -numbers[row] : numbers[row]; });
  }
  switch (call.result.scalar_type()) {
    case at::kChar: return absolute_of<int8_t>(call);
    case at::kShort: return absolute_of<int16_t>(call);
    case at::kInt: return absolute_of<int32_t>(call);
    case at::kLong: return absolute_of<int64_t>(call);
    case at::kFloat: return absolute_of<float>(call);
    default: return absolute_of<double>(call);
  }
}

Column sign_of_number(const FunctionCall& call) {
  if (call.result.is_floating()) {
    ArgumentValues<double> values(call.arguments[0]);
    return fill_rows<double>(call, [&](int64_t row) {
      return std::isnan(values[row]) ? values[row] : static_cast<double>((values[row] > 0) - (values[row] < 0));
    });
  }
  ArgumentNumbers<Int128> numbers(call.arguments[0]);
  return fill_rows<int64_t>(call, [&](int64_t row) { return (numbers[row] > 0) - (numbers[row] < 0); });
}

Column round_number(const FunctionCall& call) {
  return round_whole<Rounding::Nearest>(call);
}

Column round_up(const FunctionCall& call) {
  return round_whole<Rounding::Up>(call);
}

Column round_down(const FunctionCall& call) {
  return round_whole<Rounding::Down>(call);
}

Column cut_number(const FunctionCall& call) {
  return round_whole<Rounding::TowardZero>(call);
}

Column round_to_digits(const FunctionCall& call) {
  return round_digits<Rounding::Nearest>(call);
}

Column cut_to_digits(const FunctionCall& call) {
  return round_digits<Rounding::TowardZero>(call);
}

}  // namespace pistachio
