// Which types meet how: the common type of two operands, the result of decimal arithmetic, what casts happen by themselves.
#pragma once

#include <optional>

#include "expr/expression.h"

namespace pistachio {

bool is_integer(LogicalType type);
bool is_exact_number(LogicalType type);  // integers and decimals
bool is_number(LogicalType type);
bool is_date_like(LogicalType type);    // DATE and the timestamps, with and without time zone or nanoseconds
bool is_time_of_day(LogicalType type);  // TIME and TIME_NS

// Decimal that holds every value of an integer type; a decimal as it is.
LogicalType as_decimal(LogicalType type);

// The type in which values of both can be compared or put into one column; nothing if there is none.
std::optional<LogicalType> common_type(LogicalType left, LogicalType right);

LogicalType decimal_sum_type(LogicalType left, LogicalType right);      // + and -
LogicalType decimal_product_type(LogicalType left, LogicalType right);  // *

// Whether an argument of this type is cast to the other without being asked (wider numbers, DATE to TIMESTAMP, TIMESTAMP to
// TIMESTAMP_NS).
bool casts_implicitly(LogicalType from, LogicalType to);

// The smallest type of an exact constant, which keeps decimals small: 1 is DECIMAL(1,0) among decimals.
LogicalType narrow_constant_type(const Expression& expression);

// An untyped literal that meets a decimal: a DECIMAL of its own digits, so that 1.5 = '1.55' is not rounded. Anything else, and text that
// is no number of up to 38 digits, stays as it is.
ExpressionPtr as_decimal_literal(ExpressionPtr expression);

// Casts an expression; constants at once, so that errors and filters see values.
ExpressionPtr coerce(ExpressionPtr expression, LogicalType type);

}  // namespace pistachio
