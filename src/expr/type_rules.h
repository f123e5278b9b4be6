// Type rules: the common type of two operands, the result type of decimal arithmetic, implicit casts.
#pragma once

#include <optional>

#include "expr/expression.h"

namespace pistachio {

constexpr int kMaxDigits = 38;  // of a decimal

bool is_integer(LogicalType type);
bool is_exact_number(LogicalType type);  // integers and decimals
bool is_number(LogicalType type);
bool is_date_like(LogicalType type);    // DATE and the timestamps, with and without time zone or nanoseconds
bool is_time_of_day(LogicalType type);  // TIME and TIME_NS

// The decimal type that holds every value of an integer type; decimals unchanged.
LogicalType as_decimal(LogicalType type);

// The type in which values of both can be compared or combined into one column; nullopt if there is none.
std::optional<LogicalType> common_type(LogicalType left, LogicalType right);

LogicalType decimal_sum_type(LogicalType left, LogicalType right);      // + and -
LogicalType decimal_product_type(LogicalType left, LogicalType right);  // *

// Whether arguments are cast implicitly (to wider numbers, DATE to TIMESTAMP, TIMESTAMP to TIMESTAMP_NS).
bool casts_implicitly(LogicalType from, LogicalType to);

// The smallest type of an exact constant, which keeps decimals narrow: 1 is DECIMAL(1,0) next to decimals.
LogicalType narrow_constant_type(const Expression& expression);

// Types an untyped literal next to a decimal as a DECIMAL with all its digits, so that '1.55' in 1.5 = '1.55' is not rounded. Returns
// other expressions, and text that is not a number of up to 38 digits, unchanged.
ExpressionPtr as_decimal_literal(ExpressionPtr expression);

// Casts an expression; constants are converted immediately, so that errors appear early and filters see values.
ExpressionPtr coerce(ExpressionPtr expression, LogicalType type);

}  // namespace pistachio
