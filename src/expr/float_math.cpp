#include "expr/float_math.h"

#include <numbers>

#include "columns/scalar_access.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

[[noreturn]] void refuse_range() {
  throw UserError("number out of range");
}

// An infinite result of finite numbers is an overflow.
double checked(double result, double argument) {
  if (std::isinf(result) && std::isfinite(argument)) refuse_range();
  return result;
}

double checked_positive(double value) {
  if (value == 0) throw UserError("cannot take the logarithm of zero");
  if (value < 0) throw UserError("cannot take the logarithm of a negative number");
  return value;
}

double checked_angle(double value) {
  if (std::isinf(value)) throw UserError("the angle is infinite");
  return value;
}

double checked_ratio(double value) {
  if (value < -1 || value > 1) throw UserError("the number is outside -1 to 1");
  return value;
}

int64_t bucket_of(double value, double low, double high, int64_t count) {
  if (count <= 0) throw UserError("the number of buckets must be greater than zero");
  if (count == INT64_MAX) refuse_range();
  if (std::isnan(value) || std::isnan(low) || std::isnan(high)) throw UserError("operand and bounds cannot be NaN");
  if (std::isinf(low) || std::isinf(high)) throw UserError("the bounds must be finite");
  if (low == high) throw UserError("the lower bound cannot equal the upper bound");
  bool falling = low > high;
  if (falling ? value > low : value < low) return 0;
  if (falling ? value <= high : value >= high) return count + 1;
  // Halves the operands where the difference would overflow.
  double share = std::isfinite(high - low) ? (value - low) / (high - low) : (value / 2 - low / 2) / (high / 2 - low / 2);
  double bucket = std::floor(static_cast<double>(count) * share);
  return bucket >= static_cast<double>(count) ? count : static_cast<int64_t>(bucket) + 1;
}

}  // namespace

double square_root(double value) {
  if (value < 0) throw UserError("cannot take the square root of a negative number");
  return std::sqrt(value);
}

// The C library may be off by one unit in the last place (27); a Newton step corrects that.
double cube_root(double value) {
  double root = std::cbrt(value);
  if (root == 0 || !std::isfinite(root)) return root;
  return root - (root - value / (root * root)) / 3;
}

double exponential(double value) {
  return checked(std::exp(value), value);
}

double natural_logarithm(double value) {
  return std::log(checked_positive(value));
}

double logarithm_10(double value) {
  return std::log10(checked_positive(value));
}

double logarithm_2(double value) {
  return std::log2(checked_positive(value));
}

double logarithm_to_base(double base, double value) {
  double divisor = std::log(checked_positive(base));
  double dividend = std::log(checked_positive(value));
  if (divisor == 0) throw UserError("division by zero");
  return dividend / divisor;
}

double power_of(double base, double exponent) {
  if (base == 0 && exponent < 0) throw UserError("zero cannot be raised to a negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::trunc(exponent))
    throw UserError("a negative number raised to a power that is not whole gives a complex number");
  double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) refuse_range();
  return result;
}

double sine(double value) {
  return std::sin(checked_angle(value));
}

double cosine(double value) {
  return std::cos(checked_angle(value));
}

double tangent(double value) {
  return std::tan(checked_angle(value));
}

double cotangent(double value) {
  return 1 / std::tan(checked_angle(value));
}

double arc_sine(double value) {
  return std::asin(checked_ratio(value));
}

double arc_cosine(double value) {
  return std::acos(checked_ratio(value));
}

double arc_tangent(double value) {
  return std::atan(value);
}

double arc_tangent_2(double y, double x) {
  return std::atan2(y, x);
}

double hyperbolic_sine(double value) {
  return std::sinh(value);
}

double hyperbolic_cosine(double value) {
  return std::cosh(value);
}

double hyperbolic_tangent(double value) {
  return std::tanh(value);
}

double to_degrees(double value) {
  return checked(value / (std::numbers::pi / 180), value);
}

double to_radians(double value) {
  return value * (std::numbers::pi / 180);
}

Column pi(const FunctionCall& call) {
  return repeat_value(ScalarValue::of_floating(TypeKind::Double, std::numbers::pi), call.rows);
}

Column random_numbers(const FunctionCall& call) {
  return Column::fixed(TypeKind::Double, at::rand({call.rows}, at::kDouble));
}

Column width_bucket(const FunctionCall& call) {
  ArgumentValues<double> value(call.arguments[0]);
  ArgumentValues<double> low(call.arguments[1]);
  ArgumentValues<double> high(call.arguments[2]);
  ArgumentValues<int64_t> count(call.arguments[3]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return bucket_of(value[row], low[row], high[row], count[row]); });
}

}  // namespace pistachio
