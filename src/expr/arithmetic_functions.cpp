// + - * / % on numbers. Integers and decimals are exact and overflow is an error; decimal division returns DOUBLE (docs/sql.md).
#include <array>
#include <cmath>

#include "base/error.h"
#include "columns/column_compare.h"
#include "expr/argument_access.h"
#include "expr/cast.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "expr/wide_numbers.h"
#include "kernels/ops/checked_arithmetic.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/magnitude_below.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

using kernels::Arithmetic;
// The two operand types, where an untyped literal takes the other's; nullopt unless both are numbers.
std::optional<std::pair<LogicalType, LogicalType>> numbers(Types types, Literals literals) {
  if (types.size() != 2 || (literals[0] && literals[1])) return std::nullopt;
  LogicalType left = literals[0] ? types[1] : types[0];
  LogicalType right = literals[1] ? types[0] : types[1];
  if (!is_number(left) || !is_number(right)) return std::nullopt;
  return std::pair(left, right);
}

std::optional<FunctionTypes> same_for_all(LogicalType type) {
  return FunctionTypes{{type, type}, type};
}

bool both_integers(LogicalType left, LogicalType right) {
  return is_integer(left) && is_integer(right);
}

bool any_floating(LogicalType left, LogicalType right) {
  return left.is_floating() || right.is_floating();
}

std::optional<FunctionTypes> resolve_sum(Types types, Literals literals) {
  auto sides = numbers(types, literals);
  if (!sides) return std::nullopt;
  auto [left, right] = *sides;
  if (both_integers(left, right) || any_floating(left, right)) return same_for_all(*common_type(left, right));
  return same_for_all(decimal_sum_type(left, right));
}

std::optional<FunctionTypes> resolve_product(Types types, Literals literals) {
  auto sides = numbers(types, literals);
  if (!sides) return std::nullopt;
  auto [left, right] = *sides;
  if (both_integers(left, right) || any_floating(left, right)) return same_for_all(*common_type(left, right));
  return FunctionTypes{{as_decimal(left), as_decimal(right)}, decimal_product_type(left, right)};
}

std::optional<FunctionTypes> resolve_quotient(Types types, Literals literals) {
  auto sides = numbers(types, literals);
  if (!sides) return std::nullopt;
  auto [left, right] = *sides;
  if (both_integers(left, right)) return same_for_all(*common_type(left, right));
  if (left.kind() == TypeKind::Real && right.kind() == TypeKind::Real) return same_for_all(TypeKind::Real);
  return same_for_all(TypeKind::Double);
}

std::optional<FunctionTypes> resolve_rest(Types types, Literals literals) {
  auto sides = numbers(types, literals);
  if (!sides) return std::nullopt;
  return same_for_all(*common_type(sides->first, sides->second));
}

std::optional<FunctionTypes> resolve_sign(Types types, Literals literals) {
  if (types.size() != 1 || literals[0] || !is_number(types[0])) return std::nullopt;
  return FunctionTypes{{types[0]}, types[0]};
}

// A constant stays one row: kernels and ATen broadcast it.
const at::Tensor& values_of(const Argument& argument) {
  return argument.column.values();
}

// An infinite result of finite operands is an overflow.
void check_floats(const at::Tensor& result, const FunctionCall& call) {
  at::Tensor infinite = result.isinf();
  if (kernels::count_true(infinite) == 0) return;
  for (const Argument& argument : call.arguments) infinite = infinite.logical_and(values_of(argument).isinf().logical_not());
  if (call.valid.defined()) infinite = infinite.logical_and(call.valid);
  if (kernels::count_true(infinite.expand({call.rows}).contiguous()) > 0) throw UserError("number out of range");
}

// 38 digits do not exhaust 128 bits, so the kernel's overflow check is not enough.
void check_digits(const at::Tensor& words, const FunctionCall& call) {
  if (call.result.precision() < 38) return;
  if (!kernels::magnitude_below(words, power_of_ten(38), words.size(0) == call.rows ? call.valid : at::Tensor())) {
    throw UserError("number out of range for DECIMAL(38)");
  }
}

// Two-word or 64-bit numbers.
at::Tensor words_of(const Argument& argument) {
  return argument.column.type().is_wide() ? values_of(argument) : values_of(argument).to(at::kLong);
}

Column finish(const FunctionCall& call, at::Tensor values) {
  if (values.size(0) != call.rows)
    values = values.expand(values.dim() == 2 ? at::IntArrayRef({call.rows, 2}) : at::IntArrayRef({call.rows})).contiguous();
  return Column::fixed(call.result, std::move(values));
}

Column exact(const FunctionCall& call, Arithmetic operation) {
  if (call.result.is_wide()) {
    at::Tensor words = kernels::wide_arithmetic(words_of(call.arguments[0]), operation, words_of(call.arguments[1]), call.valid);
    check_digits(words, call);
    return finish(call, std::move(words));
  }
  return finish(call, kernels::checked_arithmetic(values_of(call.arguments[0]), operation, values_of(call.arguments[1]), call.valid));
}

Column add(const FunctionCall& call) {
  if (!call.result.is_floating()) return exact(call, Arithmetic::Add);
  at::Tensor result = values_of(call.arguments[0]) + values_of(call.arguments[1]);
  check_floats(result, call);
  return finish(call, std::move(result));
}

Column subtract(const FunctionCall& call) {
  if (!call.result.is_floating()) return exact(call, Arithmetic::Subtract);
  at::Tensor result = values_of(call.arguments[0]) - values_of(call.arguments[1]);
  check_floats(result, call);
  return finish(call, std::move(result));
}

Column multiply(const FunctionCall& call) {
  if (!call.result.is_floating()) return exact(call, Arithmetic::Multiply);
  at::Tensor result = values_of(call.arguments[0]) * values_of(call.arguments[1]);
  check_floats(result, call);
  return finish(call, std::move(result));
}

// NaN divided by zero is NaN.
void refuse_zero(const FunctionCall& call) {
  at::Tensor zero = values_of(call.arguments[1]).eq(0).logical_and(values_of(call.arguments[0]).isnan().logical_not());
  if (call.valid.defined()) zero = zero.logical_and(call.valid);
  if (zero.any().item<bool>()) throw UserError("division by zero");
}

Column divide(const FunctionCall& call) {
  if (!call.result.is_floating()) return exact(call, Arithmetic::Divide);
  refuse_zero(call);
  at::Tensor result = values_of(call.arguments[0]) / values_of(call.arguments[1]);
  check_floats(result, call);
  return finish(call, std::move(result));
}

Column modulo(const FunctionCall& call) {
  if (!call.result.is_floating()) return exact(call, Arithmetic::Modulo);
  refuse_zero(call);
  return finish(call, at::fmod(values_of(call.arguments[0]), values_of(call.arguments[1])));
}

Column negate(const FunctionCall& call) {
  const at::Tensor& values = values_of(call.arguments[0]);
  if (call.result.is_floating()) return finish(call, values.neg());
  if (call.result.is_wide())
    return finish(call, kernels::wide_arithmetic(wide_constant(0, values.device()), Arithmetic::Subtract, values, call.valid));
  return finish(call, kernels::checked_arithmetic(at::zeros({1}, values.options()), Arithmetic::Subtract, values, call.valid));
}

Column keep(const FunctionCall& call) {
  return finish(call, values_of(call.arguments[0]));
}

const std::array kArithmeticFunctions = {
    Function{.name = "+",
             .resolve = resolve_sum,
             .evaluate = add,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "number + number",
             .description = "Sum; integers and decimals exact, overflow is an error"},
    Function{.name = "-",
             .resolve = resolve_sum,
             .evaluate = subtract,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "number - number",
             .description = "Difference"},
    Function{.name = "*",
             .resolve = resolve_product,
             .evaluate = multiply,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "number * number",
             .description = "Product; decimals add their digits"},
    Function{.name = "/",
             .resolve = resolve_quotient,
             .evaluate = divide,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "number / number",
             .description = "Quotient: of integers truncated, of decimals a DOUBLE; division by zero is an error"},
    Function{.name = "%",
             .resolve = resolve_rest,
             .evaluate = modulo,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "number % number",
             .description = "Remainder of the division, with the sign of the left side"},
    Function{.name = "mod",
             .resolve = resolve_rest,
             .evaluate = modulo,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "mod(a, b)",
             .description = "Remainder of the division, with the sign of a"},
    Function{.name = "-",
             .resolve = resolve_sign,
             .evaluate = negate,
             .place = FunctionPlace::AnyDevice,
             .can_raise = true,
             .signature = "-number",
             .description = "Negation"},
    Function{.name = "+",
             .resolve = resolve_sign,
             .evaluate = keep,
             .place = FunctionPlace::AnyDevice,
             .signature = "+number",
             .description = "The number itself"},
};

}  // namespace

std::span<const Function> arithmetic_functions() {
  return kArithmeticFunctions;
}

}  // namespace pistachio
