// Comparisons with constants that no type can hold together with the other side: exact numbers of more than 38 digits in all, moments
// outside the range of nanoseconds. Any thread; owns nothing.
#pragma once

#include "expr/expression.h"

namespace pistachio {

// The comparison with a constant of the other side's scale that says the same; null: both sides fit into one type, or it is no such
// comparison.
ExpressionPtr compare_with_long_constant(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position);

// A timestamp in nanoseconds against a date, timestamp or literal outside their range: the same truth for every row that is not NULL. Null:
// the constant lies inside, or it is no such comparison.
ExpressionPtr compare_with_distant_moment(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position);

}  // namespace pistachio
