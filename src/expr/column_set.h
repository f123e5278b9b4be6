// Which columns an expression uses.
#pragma once

#include "expr/expression.h"

namespace pistachio {

ColumnSet intersection(const ColumnSet& left, const ColumnSet& right);
bool is_subset(const ColumnSet& part, const ColumnSet& whole);

bool uses_any_of(const Expression& expression, const ColumnSet& columns);
// True for constants.
bool uses_only(const Expression& expression, const ColumnSet& columns);
// Uses at least one column, and only these.
bool is_computed_from(const Expression& expression, const ColumnSet& columns);

}  // namespace pistachio
