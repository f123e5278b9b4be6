// Comparisons of exact numbers with constants that have more digits, before or behind the point, than one type of 38 digits could hold of
// both. Any thread; owns nothing.
#pragma once

#include "expr/expression.h"

namespace pistachio {

// The comparison with a constant of the other side's scale that says the same; null: both sides fit into one type, or it is no such
// comparison.
ExpressionPtr compare_with_long_constant(std::string_view name, const std::vector<ExpressionPtr>& arguments, int64_t position);

}  // namespace pistachio
