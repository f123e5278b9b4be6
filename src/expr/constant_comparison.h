// Comparisons with constants that have no common type with the other side: exact numbers that together need more than 38 digits, timestamps
// out of the range of nanoseconds.
#pragma once

#include "expr/expression.h"

namespace pistachio {

// An equivalent comparison with a constant of the other side's scale; null if both sides fit into one type, or it is no such comparison.
ExpressionPtr compare_with_long_constant(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position);

// A timestamp in nanoseconds compared with a date, timestamp or literal out of their range: the same result for every row that is not NULL.
// Null if the constant is in range, or it is no such comparison.
ExpressionPtr compare_with_distant_moment(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position);

}  // namespace pistachio
