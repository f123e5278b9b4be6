#include "expr/constant_comparison.h"

#include <algorithm>

#include "base/error.h"
#include "expr/cast.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

bool is_number_constant(const Expression& expression) {
  return expression.is_constant() && !expression.is_untyped() && !expression.value().is_null && is_exact_number(expression.type());
}

// The comparison with its sides swapped; empty if it is not a comparison.
std::string_view mirrored_comparison(std::string_view name) {
  if (name == "<") return ">";
  if (name == "<=") return ">=";
  if (name == ">") return "<";
  if (name == ">=") return "<=";
  bool is_symmetric = name == "=" || name == "<>" || name == "is distinct from" || name == "is not distinct from";
  return is_symmetric ? name : std::string_view();
}

Int128 floor_divide(Int128 value, Int128 divisor) {
  Int128 quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// The constant `always`, but NULL where the value is NULL.
ExpressionPtr where_known(ExpressionPtr value, bool always, int64_t position) {
  return make_call(always ? "=" : "<>", {value, value}, position);
}

// Comparison with a constant that equals no value.
ExpressionPtr compare_unequal(std::string_view name, const ExpressionPtr& value, int64_t position) {
  if (name == "is distinct from" || name == "is not distinct from")
    return Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, name == "is distinct from" ? 1 : 0), position);
  return where_known(value, name == "<>", position);
}

// Position of a constant relative to the range of nanoseconds: -1 before, 1 after, 0 inside or not a timestamp.
int side_of_range(const Expression& constant, LogicalType type) {
  bool is_moment = constant.is_untyped() || (is_date_like(constant.type()) && !constant.type().has_nanoseconds());
  if (!constant.is_constant() || constant.value().is_null || !is_moment) return 0;
  try {
    ParsedConstant parsed = parse_constant(type, constant.value().to_string());
    return parsed.above ? 1 : parsed.below ? -1 : 0;
  } catch (const UserError&) {
    return 0;  // the usual path reports the error
  }
}

}  // namespace

ExpressionPtr compare_with_distant_moment(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position) {
  std::string_view mirrored = mirrored_comparison(name);
  if (mirrored.empty() || arguments.size() != 2) return nullptr;
  bool has_nanoseconds = is_date_like(arguments[0]->type()) && arguments[0]->type().has_nanoseconds();
  if (!has_nanoseconds) {
    bool other_has = is_date_like(arguments[1]->type()) && arguments[1]->type().has_nanoseconds();
    return other_has ? compare_with_distant_moment(mirrored, {arguments[1], arguments[0]}, position) : nullptr;
  }
  int side = side_of_range(*arguments[1], arguments[0]->type());
  if (side == 0) return nullptr;
  bool is_less = name == "<" || name == "<=";
  bool is_greater = name == ">" || name == ">=";
  if (is_less || is_greater) return where_known(arguments[0], is_less == (side > 0), position);
  return compare_unequal(name, arguments[0], position);
}

ExpressionPtr compare_with_long_constant(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position) {
  std::string_view mirrored = mirrored_comparison(name);
  if (mirrored.empty() || arguments.size() != 2) return nullptr;
  if (!is_number_constant(*arguments[1]))
    return is_number_constant(*arguments[0]) ? compare_with_long_constant(mirrored, {arguments[1], arguments[0]}, position) : nullptr;
  const ExpressionPtr& value = arguments[0];
  if (value->is_untyped() || !is_exact_number(value->type())) return nullptr;
  LogicalType type = as_decimal(narrow_constant_type(*value));
  LogicalType constant_type = narrow_constant_type(*arguments[1]);
  int whole = std::max(type.precision() - type.scale(), constant_type.precision() - constant_type.scale());
  if (whole + std::max(type.scale(), constant_type.scale()) <= kMaxDigits) return nullptr;

  Int128 constant = arguments[1]->value().integer;
  bool is_less = name == "<" || name == "<=";
  bool is_ordered = is_less || name == ">" || name == ">=";
  int longer = constant_type.scale() - type.scale();
  if (longer <= 0) {
    // The constant has more digits before the point than any value.
    if (is_ordered) return where_known(value, is_less == (constant > 0), position);
    return compare_unequal(name, value, position);
  }
  Int128 divisor = power_of_ten(longer);
  Int128 below = floor_divide(constant, divisor);
  bool is_exact = below * divisor == constant;
  if (!is_exact && !is_ordered) return compare_unequal(name, value, position);
  if (!is_exact) name = is_less ? "<=" : ">";
  ExpressionPtr shorter =
      Expression::constant(ScalarValue::of_integer(LogicalType::decimal(kMaxDigits, type.scale()), below), arguments[1]->position());
  return make_call(name, {value, std::move(shorter)}, position);
}

}  // namespace pistachio
