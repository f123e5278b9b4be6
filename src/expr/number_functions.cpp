// Functions on numbers: the table and the argument types of each. Integer and decimal results are exact; roots, logarithms and angles are
// DOUBLE. Bodies: number_rounding, float_math, integer_math.
#include <algorithm>
#include <array>

#include "expr/argument_access.h"
#include "expr/float_math.h"
#include "expr/function_table.h"
#include "expr/integer_math.h"
#include "expr/number_rounding.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

bool is_decimal(LogicalType type, bool literal) {
  return !literal && type.kind() == TypeKind::Decimal;
}

// Numbers keep their type; a literal is a DOUBLE.
std::optional<FunctionTypes> resolve_same(Types types, Literals literals) {
  if (types.size() != 1) return std::nullopt;
  LogicalType type = literals[0] ? LogicalType(kDouble) : types[0];
  if (!is_number(type)) return std::nullopt;
  return FunctionTypes{{type}, type};
}

// Decimals lose their scale and gain a digit where rounding may carry; other numbers become DOUBLE.
template <bool carries>
std::optional<FunctionTypes> resolve_whole(Types types, Literals literals) {
  if (types.size() != 1 || (!literals[0] && !is_number(types[0]))) return std::nullopt;
  if (!is_decimal(types[0], literals[0])) return FunctionTypes{{kDouble}, kDouble};
  if (types[0].scale() == 0) return FunctionTypes{{types[0]}, types[0]};
  int digits = types[0].precision() - types[0].scale() + (carries ? 1 : 0);
  return FunctionTypes{{types[0]}, LogicalType::decimal(std::max(1, digits), 0)};
}

std::optional<FunctionTypes> resolve_signum(Types types, Literals literals) {
  if (types.size() == 1 && is_decimal(types[0], literals[0])) return FunctionTypes{{types[0]}, LogicalType::decimal(1, 0)};
  return resolve_as<kDouble, kDouble>(types, literals);
}

// A number and the number of digits to keep after the point. Integers count as decimals.
template <bool carries>
std::optional<FunctionTypes> resolve_digits(Types types, Literals literals) {
  if (types.size() != 2 || !fits_parameter(types[1], literals[1], kWhole)) return std::nullopt;
  if (literals[0] || types[0].is_floating()) return FunctionTypes{{kDouble, kWhole}, kDouble};
  if (!is_exact_number(types[0])) return std::nullopt;
  LogicalType type = as_decimal(types[0]);
  return FunctionTypes{{type, kWhole}, LogicalType::decimal(std::min(38, type.precision() + (carries ? 1 : 0)), type.scale())};
}

std::optional<FunctionTypes> resolve_bits(Types types, Literals literals) {
  if (types.size() != 2 || (literals[0] && literals[1])) return std::nullopt;
  LogicalType left = literals[0] ? types[1] : types[0];
  LogicalType right = literals[1] ? types[0] : types[1];
  if (!is_integer(left) || !is_integer(right)) return std::nullopt;
  LogicalType common = *common_type(left, right);
  return FunctionTypes{{common, common}, common};
}

std::optional<FunctionTypes> resolve_shift(Types types, Literals literals) {
  if (types.size() != 2 || literals[0] || !is_integer(types[0]) || !fits_parameter(types[1], literals[1], kWhole)) return std::nullopt;
  return FunctionTypes{{types[0], kWhole}, types[0]};
}

std::optional<FunctionTypes> resolve_integer(Types types, Literals literals) {
  if (types.size() != 1 || literals[0] || !is_integer(types[0])) return std::nullopt;
  return FunctionTypes{{types[0]}, types[0]};
}

constexpr Function double_function(std::string_view name, Column (*evaluate)(const FunctionCall&), std::string_view signature,
                                   std::string_view description) {
  return {.name = name,
          .resolve = resolve_as<kDouble, kDouble>,
          .evaluate = evaluate,
          .can_raise = true,
          .signature = signature,
          .description = description};
}

const std::array kNumberFunctions = {
    Function{.name = "abs",
             .resolve = resolve_same,
             .evaluate = absolute_value,
             .can_raise = true,
             .signature = "abs(number)",
             .description = "Absolute value; keeps the type"},
    Function{.name = "sign",
             .resolve = resolve_signum,
             .evaluate = sign_of_number,
             .signature = "sign(number)",
             .description = "-1, 0 or 1, as DECIMAL(1,0) of decimals and else as DOUBLE"},
    Function{.name = "round",
             .resolve = resolve_whole<true>,
             .evaluate = round_number,
             .can_raise = true,
             .signature = "round(number)",
             .description = "The nearest integer; halves of decimals away from zero, of DOUBLE to even. Decimals become DECIMAL(n, "
                            "0), other numbers DOUBLE"},
    Function{.name = "ceil",
             .resolve = resolve_whole<true>,
             .evaluate = round_up,
             .can_raise = true,
             .signature = "ceil(number)",
             .description = "The smallest integer that is not less. Decimals become DECIMAL(n,0), other numbers DOUBLE"},
    Function{.name = "ceiling",
             .resolve = resolve_whole<true>,
             .evaluate = round_up,
             .can_raise = true,
             .signature = "ceiling(number)",
             .description = "The smallest integer that is not less. Decimals become DECIMAL(n,0), other numbers DOUBLE"},
    Function{.name = "floor",
             .resolve = resolve_whole<true>,
             .evaluate = round_down,
             .can_raise = true,
             .signature = "floor(number)",
             .description = "The largest integer that is not greater. Decimals become DECIMAL(n,0), other numbers DOUBLE"},
    Function{.name = "trunc",
             .resolve = resolve_whole<false>,
             .evaluate = cut_number,
             .can_raise = true,
             .signature = "trunc(number)",
             .description = "Truncated to an integer. Decimals become DECIMAL(n,0), other numbers DOUBLE"},
    Function{.name = "round",
             .resolve = resolve_digits<true>,
             .evaluate = round_to_digits,
             .can_raise = true,
             .signature = "round(number, digits BIGINT)",
             .description =
                 "Rounded to that many digits after the point, or before it if negative; halves away from zero. Decimals keep their scale"},
    Function{.name = "trunc",
             .resolve = resolve_digits<false>,
             .evaluate = cut_to_digits,
             .can_raise = true,
             .signature = "trunc(number, digits BIGINT)",
             .description = "Truncated to that many digits after the point, or before it if negative. Decimals keep their scale"},
    double_function("sqrt", map_double<square_root>, "sqrt(number) -> DOUBLE", "Square root; an error for negative numbers"),
    double_function("cbrt", map_double<cube_root>, "cbrt(number) -> DOUBLE", "Cube root"),
    double_function("exp", map_double<exponential>, "exp(number) -> DOUBLE", "e to this power"),
    double_function("ln", map_double<natural_logarithm>, "ln(number) -> DOUBLE",
                    "Natural logarithm; an error for zero and negative numbers"),
    double_function("log", map_double<logarithm_10>, "log(number) -> DOUBLE",
                    "Logarithm to base 10; an error for zero and negative numbers"),
    double_function("log10", map_double<logarithm_10>, "log10(number) -> DOUBLE",
                    "Logarithm to base 10; an error for zero and negative numbers"),
    double_function("log2", map_double<logarithm_2>, "log2(number) -> DOUBLE",
                    "Logarithm to base 2; an error for zero and negative numbers"),
    Function{.name = "log",
             .resolve = resolve_as<kDouble, kDouble, kDouble>,
             .evaluate = map_two_doubles<logarithm_to_base>,
             .can_raise = true,
             .signature = "log(base, number) -> DOUBLE",
             .description = "Logarithm to a base"},
    Function{.name = "power",
             .resolve = resolve_as<kDouble, kDouble, kDouble>,
             .evaluate = map_two_doubles<power_of>,
             .can_raise = true,
             .signature = "power(base, exponent) -> DOUBLE",
             .description = "Power; complex results and zero to a negative power are errors"},
    Function{.name = "pow",
             .resolve = resolve_as<kDouble, kDouble, kDouble>,
             .evaluate = map_two_doubles<power_of>,
             .can_raise = true,
             .signature = "pow(base, exponent) -> DOUBLE",
             .description = "Power; complex results and zero to a negative power are errors"},
    Function{.name = "^",
             .resolve = resolve_as<kDouble, kDouble, kDouble>,
             .evaluate = map_two_doubles<power_of>,
             .can_raise = true,
             .signature = "number ^ number -> DOUBLE",
             .description = "Power; complex results and zero to a negative power are errors"},
    double_function("sin", map_double<sine>, "sin(number) -> DOUBLE", "Sine of an angle in radians"),
    double_function("cos", map_double<cosine>, "cos(number) -> DOUBLE", "Cosine of an angle in radians"),
    double_function("tan", map_double<tangent>, "tan(number) -> DOUBLE", "Tangent of an angle in radians"),
    double_function("cot", map_double<cotangent>, "cot(number) -> DOUBLE", "Cotangent of an angle in radians"),
    double_function("asin", map_double<arc_sine>, "asin(number) -> DOUBLE", "Arc sine in radians; an error outside -1 to 1"),
    double_function("acos", map_double<arc_cosine>, "acos(number) -> DOUBLE", "Arc cosine in radians; an error outside -1 to 1"),
    double_function("atan", map_double<arc_tangent>, "atan(number) -> DOUBLE", "Arc tangent in radians"),
    Function{.name = "atan2",
             .resolve = resolve_as<kDouble, kDouble, kDouble>,
             .evaluate = map_two_doubles<arc_tangent_2>,
             .signature = "atan2(y, x) -> DOUBLE",
             .description = "Arc tangent of y / x in radians, in the quadrant of the point"},
    double_function("sinh", map_double<hyperbolic_sine>, "sinh(number) -> DOUBLE", "Hyperbolic sine"),
    double_function("cosh", map_double<hyperbolic_cosine>, "cosh(number) -> DOUBLE", "Hyperbolic cosine"),
    double_function("tanh", map_double<hyperbolic_tangent>, "tanh(number) -> DOUBLE", "Hyperbolic tangent"),
    double_function("degrees", map_double<to_degrees>, "degrees(number) -> DOUBLE", "Radians in degrees"),
    double_function("radians", map_double<to_radians>, "radians(number) -> DOUBLE", "Degrees in radians"),
    Function{.name = "pi", .resolve = resolve_as<kDouble>, .evaluate = pi, .signature = "pi() -> DOUBLE", .description = "The number pi"},
    Function{.name = "random",
             .resolve = resolve_as<kDouble>,
             .evaluate = random_numbers,
             .is_stable = false,
             .signature = "random() -> DOUBLE",
             .description = "A random number in [0, 1), different for each row"},
    Function{.name = "width_bucket",
             .resolve = resolve_as<kWhole, kDouble, kDouble, kDouble, kWhole>,
             .evaluate = width_bucket,
             .can_raise = true,
             .signature = "width_bucket(number, low, high, count BIGINT) -> BIGINT",
             .description = "Number of the bucket, of count equal ones from low to high, from 1; 0 below and count + 1 above"},
    Function{.name = "isnan",
             .resolve = resolve_as<kTruth, kDouble>,
             .evaluate = test_double<is_not_a_number>,
             .signature = "isnan(number) -> BOOLEAN",
             .description = "Whether it is NaN"},
    Function{.name = "isinf",
             .resolve = resolve_as<kTruth, kDouble>,
             .evaluate = test_double<is_infinite>,
             .signature = "isinf(number) -> BOOLEAN",
             .description = "Whether it is infinite"},
    Function{.name = "isfinite",
             .resolve = resolve_as<kTruth, kDouble>,
             .evaluate = test_double<is_finite>,
             .signature = "isfinite(number) -> BOOLEAN",
             .description = "Whether it is neither infinite nor NaN"},
    Function{.name = "gcd",
             .resolve = resolve_as<kWhole, kWhole, kWhole>,
             .evaluate = greatest_common_divisor,
             .can_raise = true,
             .signature = "gcd(a BIGINT, b BIGINT) -> BIGINT",
             .description = "Greatest common divisor, not negative"},
    Function{.name = "lcm",
             .resolve = resolve_as<kWhole, kWhole, kWhole>,
             .evaluate = least_common_multiple,
             .can_raise = true,
             .signature = "lcm(a BIGINT, b BIGINT) -> BIGINT",
             .description = "Least common multiple, not negative"},
    Function{.name = "factorial",
             .resolve = resolve_as<kWhole, kWhole>,
             .evaluate = factorial,
             .can_raise = true,
             .signature = "factorial(number BIGINT) -> BIGINT",
             .description = "Factorial; out of range above 20"},
    Function{.name = "&", .resolve = resolve_bits, .evaluate = bits_and, .signature = "integer & integer", .description = "Bits of both"},
    Function{.name = "|", .resolve = resolve_bits, .evaluate = bits_or, .signature = "integer | integer", .description = "Bits of either"},
    Function{.name = "#",
             .resolve = resolve_bits,
             .evaluate = bits_differ,
             .signature = "integer # integer",
             .description = "Bitwise exclusive or"},
    Function{.name = "~", .resolve = resolve_integer, .evaluate = bits_not, .signature = "~integer", .description = "All bits inverted"},
    Function{.name = "<<",
             .resolve = resolve_shift,
             .evaluate = shift_left,
             .signature = "integer << count BIGINT",
             .description = "Bits shifted to the left; the count is taken modulo the width"},
    Function{.name = ">>",
             .resolve = resolve_shift,
             .evaluate = shift_right,
             .signature = "integer >> count BIGINT",
             .description = "Bits shifted to the right, keeping the sign; the count is taken modulo the width"},
};

}  // namespace

std::span<const Function> number_functions() {
  return kNumberFunctions;
}

}  // namespace pistachio
