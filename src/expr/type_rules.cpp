#include "expr/type_rules.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "data/decimal_text.h"
#include "expr/cast.h"

namespace pistachio {

namespace {

int integer_rank(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::TinyInt: return 1;
    case TypeKind::SmallInt: return 2;
    case TypeKind::Integer: return 3;
    case TypeKind::BigInt: return 4;
    default: return 0;
  }
}

int integer_digits(LogicalType type) {
  constexpr int digits[] = {0, 3, 5, 10, 19};
  return digits[integer_rank(type)];
}

bool has_time_zone(LogicalType type) {
  return type.kind() == TypeKind::TimestampTz || type.kind() == TypeKind::TimestampTzNs;
}

}  // namespace

bool is_integer(LogicalType type) {
  return integer_rank(type) > 0;
}

bool is_exact_number(LogicalType type) {
  return is_integer(type) || type.kind() == TypeKind::Decimal;
}

bool is_number(LogicalType type) {
  return is_exact_number(type) || type.is_floating();
}

bool is_date_like(LogicalType type) {
  LogicalType micros = in_microseconds(type);
  return type.kind() == TypeKind::Date || micros.kind() == TypeKind::Timestamp || micros.kind() == TypeKind::TimestampTz;
}

bool is_time_of_day(LogicalType type) {
  return type.kind() == TypeKind::Time || type.kind() == TypeKind::TimeNs;
}

LogicalType as_decimal(LogicalType type) {
  return is_integer(type) ? LogicalType::decimal(integer_digits(type), 0) : type;
}

std::optional<LogicalType> common_type(LogicalType left, LogicalType right) {
  if (left == right) return left;
  if (is_integer(left) && is_integer(right)) return integer_rank(left) >= integer_rank(right) ? left : right;
  if (is_exact_number(left) && is_exact_number(right)) {
    LogicalType first = as_decimal(left);
    LogicalType second = as_decimal(right);
    int scale = std::max(first.scale(), second.scale());
    int whole = std::max(first.precision() - first.scale(), second.precision() - second.scale());
    return LogicalType::decimal(std::min(kMaxDigits, std::max(1, whole + scale)), scale);
  }
  if (is_number(left) && is_number(right)) return LogicalType(TypeKind::Double);
  if (is_date_like(left) && is_date_like(right)) {
    bool zone = has_time_zone(left) || has_time_zone(right);
    LogicalType common = zone ? TypeKind::TimestampTz : TypeKind::Timestamp;
    return left.has_nanoseconds() || right.has_nanoseconds() ? in_nanoseconds(common) : common;
  }
  if (is_time_of_day(left) && is_time_of_day(right)) return LogicalType(TypeKind::TimeNs);
  return std::nullopt;
}

LogicalType decimal_sum_type(LogicalType left, LogicalType right) {
  LogicalType common = *common_type(as_decimal(left), as_decimal(right));
  return LogicalType::decimal(std::min(kMaxDigits, common.precision() + 1), common.scale());
}

LogicalType decimal_product_type(LogicalType left, LogicalType right) {
  LogicalType first = as_decimal(left);
  LogicalType second = as_decimal(right);
  int scale = first.scale() + second.scale();
  if (scale > kMaxDigits) throw UserError("the product would have more than 38 digits after the point: cast one side to DOUBLE");
  return LogicalType::decimal(std::min(kMaxDigits, first.precision() + second.precision()), scale);
}

bool casts_implicitly(LogicalType from, LogicalType to) {
  if (from == to) return true;
  if (is_integer(from) && is_integer(to)) return integer_rank(from) <= integer_rank(to);
  if (is_exact_number(from) && to.kind() == TypeKind::Decimal) {
    LogicalType own = as_decimal(from);
    return own.precision() - own.scale() <= to.precision() - to.scale() && own.scale() <= to.scale();
  }
  if (is_number(from) && to.kind() == TypeKind::Double) return true;
  if (is_exact_number(from) && to.kind() == TypeKind::Real) return true;
  if (from.kind() == TypeKind::Date) return is_date_like(to);
  if (is_time_of_day(from)) return to == in_nanoseconds(from);
  // Neither a time zone nor nanoseconds are dropped.
  bool keeps_zone = !has_time_zone(from) || has_time_zone(to);
  bool keeps_digits = !from.has_nanoseconds() || to.has_nanoseconds();
  return is_date_like(from) && is_date_like(to) && to.kind() != TypeKind::Date && keeps_zone && keeps_digits;
}

LogicalType narrow_constant_type(const Expression& expression) {
  LogicalType type = expression.type();
  if (!expression.is_constant() || expression.value().is_null || !is_exact_number(type)) return type;
  Int128 value = expression.value().integer;
  int digits = 1;
  for (Int128 rest = value / 10; rest != 0; rest /= 10) ++digits;
  int scale = type.kind() == TypeKind::Decimal ? type.scale() : 0;
  return LogicalType::decimal(std::max(digits, std::max(1, scale)), scale);
}

ExpressionPtr as_decimal_literal(ExpressionPtr expression) {
  if (!expression->is_untyped() || !expression->is_constant() || expression->value().is_null) return expression;
  std::string_view text = expression->value().text;
  size_t begin = std::min(text.find_first_not_of(" \t\n\r\f\v"), text.size());
  text = text.substr(begin, text.find_last_not_of(" \t\n\r\f\v") + 1 - begin);
  std::optional<DecimalText> number = read_decimal_text(text);
  if (!number) return expression;
  int64_t scale = std::max<int64_t>(0, static_cast<int64_t>(number->digits.size()) - number->point);
  int64_t precision = std::max<int64_t>({1, scale, number->point + scale});
  if (precision > kMaxDigits) return expression;
  LogicalType type = LogicalType::decimal(static_cast<int>(precision), static_cast<int>(scale));
  Int128 magnitude = cut_decimal(*number, type.scale(), power_of_ten(type.precision()) - 1).magnitude;
  return Expression::constant(ScalarValue::of_integer(type, number->is_negative ? -magnitude : magnitude), expression->position());
}

ExpressionPtr coerce(ExpressionPtr expression, LogicalType type) {
  if (expression->type() == type && !expression->is_untyped()) return expression;
  int64_t position = expression->position();
  if (!expression->is_constant()) return Expression::cast(std::move(expression), type, position);
  try {
    return Expression::constant(cast_value(expression->value(), type), position);
  } catch (const UserError& error) {
    throw UserError(error.message(), position >= 0 ? std::optional(position) : std::nullopt);
  }
}

}  // namespace pistachio
