// Sets of columns, and what an expression uses of them.
#pragma once

#include "expr/expression.h"

namespace pistachio {

ColumnSet intersection(const ColumnSet& left, const ColumnSet& right);
bool is_subset(const ColumnSet& part, const ColumnSet& whole);

bool uses_any_of(const Expression& expression, const ColumnSet& columns);
// Constants use nothing, which is only what is in any set.
bool uses_only(const Expression& expression, const ColumnSet& columns);
// At least one column, and all of them among these.
bool is_computed_from(const Expression& expression, const ColumnSet& columns);

}  // namespace pistachio
