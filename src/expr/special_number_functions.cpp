// Rarer functions on numbers: bits, hyperbolic inverses, the gamma function, floating-point neighbours.
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/function_families.h"

namespace pistachio {

namespace {

template <auto compute>
Column compute_doubles(const FunctionCall& call) {
  ArgumentValues<double> values(call.arguments[0]);
  return fill_counted_rows<double>(call, [&](int64_t row) { return compute(values[row]); });
}

template <auto compute>
Column combine_doubles(const FunctionCall& call) {
  ArgumentValues<double> left(call.arguments[0]);
  ArgumentValues<double> right(call.arguments[1]);
  return fill_counted_rows<double>(call, [&](int64_t row) { return compute(left[row], right[row]); });
}

double inverse_cosh(double value) {
  if (value < 1) throw UserError("acosh needs a number of at least 1");
  return std::acosh(value);
}

double inverse_tanh(double value) {
  if (!(value >= -1 && value <= 1) && !std::isnan(value)) throw UserError("atanh needs a number between -1 and 1");
  return std::atanh(value);
}

double gamma_of(double value) {
  if (value == 0 || (value < 0 && std::floor(value) == value)) throw UserError("gamma is not defined for 0 and negative whole numbers");
  return std::tgamma(value);
}

// lgamma() would write the sign to a global variable.
double log_gamma_of(double value) {
  if (value == 0) throw UserError("lgamma is not defined for 0");
  int sign = 0;
  return ::lgamma_r(value, &sign);
}

// The next even whole number away from zero.
double next_even(double value) {
  const double half = value >= 0 ? std::ceil(value / 2) : std::floor(value / 2);
  return half * 2;
}

double divide_floor(double left, double right) {
  if (right == 0) throw UserError("division by zero");
  return std::floor(left / right);
}

double modulo_floor(double left, double right) {
  if (right == 0) throw UserError("division by zero");
  return left - std::floor(left / right) * right;
}

double neighbour(double from, double towards) {
  return std::nextafter(from, towards);
}

double inverse_sinh(double value) {
  return std::asinh(value);
}

Column is_negative(const FunctionCall& call) {
  ArgumentValues<double> values(call.arguments[0]);
  return fill_rows<bool>(call, [&](int64_t row) { return std::signbit(values[row]); });
}

template <typename Value>
Column count_bits(const FunctionCall& call) {
  ArgumentValues<Value> values(call.arguments[0]);
  return fill_rows<int32_t>(call, [&](int64_t row) { return std::popcount(static_cast<std::make_unsigned_t<Value>>(values[row])); });
}

// Negative numbers have the bits of their own width.
Column count_integer_bits(const FunctionCall& call) {
  switch (call.arguments[0].column.type().kind()) {
    case TypeKind::TinyInt: return count_bits<int8_t>(call);
    case TypeKind::SmallInt: return count_bits<int16_t>(call);
    case TypeKind::Integer: return count_bits<int32_t>(call);
    default: return count_bits<int64_t>(call);
  }
}

Column divide_whole(const FunctionCall& call) {
  ArgumentValues<int64_t> left(call.arguments[0]);
  ArgumentValues<int64_t> right(call.arguments[1]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) -> int64_t {
    if (right[row] == 0) throw UserError("division by zero");
    if (right[row] == -1) {
      int64_t negated = 0;
      if (__builtin_sub_overflow(int64_t{0}, left[row], &negated)) throw UserError("number out of range");
      return negated;
    }
    return left[row] / right[row];
  });
}

std::optional<FunctionTypes> resolve_integer_bits(Types types, Literals literals) {
  if (types.size() != 1) return std::nullopt;
  if (literals[0] || !is_integer(types[0])) return resolve_as<TypeKind::Integer, kWhole>(types, literals);
  return FunctionTypes{{types[0]}, TypeKind::Integer};
}

using NumberResolver = std::optional<FunctionTypes> (*)(Types, Literals);

constexpr Function make_number_function(std::string_view name, NumberResolver resolve, Column (*evaluate)(const FunctionCall&),
                                        std::string_view signature, std::string_view description) {
  return {.name = name, .resolve = resolve, .evaluate = evaluate, .can_raise = true, .signature = signature, .description = description};
}

constexpr NumberResolver kOneDouble = resolve_as<kDouble, kDouble>;
constexpr NumberResolver kTwoDoubles = resolve_as<kDouble, kDouble, kDouble>;

const std::array kSpecialNumberFunctions = {
    make_number_function("asinh", kOneDouble, compute_doubles<inverse_sinh>, "asinh(number DOUBLE) -> DOUBLE", "Inverse hyperbolic sine"),
    make_number_function("acosh", kOneDouble, compute_doubles<inverse_cosh>, "acosh(number DOUBLE) -> DOUBLE", "Inverse hyperbolic cosine"),
    make_number_function("atanh", kOneDouble, compute_doubles<inverse_tanh>, "atanh(number DOUBLE) -> DOUBLE",
                         "Inverse hyperbolic tangent"),
    make_number_function("gamma", kOneDouble, compute_doubles<gamma_of>, "gamma(number DOUBLE) -> DOUBLE",
                         "The gamma function: gamma(n) is (n - 1)!"),
    make_number_function("lgamma", kOneDouble, compute_doubles<log_gamma_of>, "lgamma(number DOUBLE) -> DOUBLE",
                         "Logarithm of the gamma function"),
    make_number_function("even", kOneDouble, compute_doubles<next_even>, "even(number DOUBLE) -> DOUBLE",
                         "The next even whole number away from zero"),
    make_number_function("nextafter", kTwoDoubles, combine_doubles<neighbour>, "nextafter(number DOUBLE, towards DOUBLE) -> DOUBLE",
                         "The next DOUBLE in the direction of the other"),
    make_number_function("fdiv", kTwoDoubles, combine_doubles<divide_floor>, "fdiv(number DOUBLE, divisor DOUBLE) -> DOUBLE",
                         "The quotient, rounded down"),
    make_number_function("fmod", kTwoDoubles, combine_doubles<modulo_floor>, "fmod(number DOUBLE, divisor DOUBLE) -> DOUBLE",
                         "The rest of the division that fdiv does"),
    make_number_function("signbit", resolve_as<kTruth, kDouble>, is_negative, "signbit(number DOUBLE) -> BOOLEAN",
                         "Whether the sign is set, also that of -0.0"),
    make_number_function("bit_count", resolve_integer_bits, count_integer_bits, "bit_count(integer) -> INTEGER",
                         "Number of bits that are set; negative numbers as two's complement"),
    make_number_function("div", resolve_as<kWhole, kWhole, kWhole>, divide_whole, "div(number BIGINT, divisor BIGINT) -> BIGINT",
                         "The quotient, rounded towards zero"),
};

}  // namespace

std::span<const Function> special_number_functions() {
  return kSpecialNumberFunctions;
}

}  // namespace pistachio
