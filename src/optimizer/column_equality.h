// Conditions of the form a = b of plain columns, which connect the inputs of a join.
#pragma once

#include <optional>

#include "expr/expression.h"

namespace pistachio {

struct ColumnPair {
  ColumnId left;
  ColumnId right;
};

// Nothing for any other condition. The columns have the same type, or there would be a cast.
std::optional<ColumnPair> as_column_equality(const Expression& condition);

}  // namespace pistachio
