// Functions on DOUBLE: roots, powers, logarithms, trigonometry. Arguments outside the domain and results out of range are errors.
// Function bodies (expr/function.h).
#pragma once

#include <cmath>

#include "base/error.h"
#include "expr/argument_access.h"

namespace pistachio {

// `compute` may throw UserError.
template <double (*compute)(double)>
Column map_double(const FunctionCall& call) {
  ArgumentValues<double> values(call.arguments[0]);
  return fill_counted_rows<double>(call, [&](int64_t row) { return compute(values[row]); });
}

template <double (*compute)(double, double)>
Column map_two_doubles(const FunctionCall& call) {
  ArgumentValues<double> left(call.arguments[0]);
  ArgumentValues<double> right(call.arguments[1]);
  return fill_counted_rows<double>(call, [&](int64_t row) { return compute(left[row], right[row]); });
}

template <bool (*test)(double)>
Column test_double(const FunctionCall& call) {
  ArgumentValues<double> values(call.arguments[0]);
  return fill_rows<bool>(call, [&](int64_t row) { return test(values[row]); });
}

double square_root(double value);
double cube_root(double value);
double exponential(double value);
double natural_logarithm(double value);
double logarithm_10(double value);
double logarithm_2(double value);
double logarithm_to_base(double base, double value);
double power_of(double base, double exponent);
double sine(double value);
double cosine(double value);
double tangent(double value);
double cotangent(double value);
double arc_sine(double value);
double arc_cosine(double value);
double arc_tangent(double value);
double arc_tangent_2(double y, double x);
double hyperbolic_sine(double value);
double hyperbolic_cosine(double value);
double hyperbolic_tangent(double value);
double to_degrees(double value);
double to_radians(double value);

inline bool is_not_a_number(double value) {
  return std::isnan(value);
}
inline bool is_infinite(double value) {
  return std::isinf(value);
}
inline bool is_finite(double value) {
  return std::isfinite(value);
}

Column pi(const FunctionCall& call);
Column random_numbers(const FunctionCall& call);
Column width_bucket(const FunctionCall& call);  // value, low, high, count BIGINT

}  // namespace pistachio
