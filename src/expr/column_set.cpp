#include "expr/column_set.h"

#include <algorithm>
#include <iterator>

namespace pistachio {

ColumnSet intersection(const ColumnSet& left, const ColumnSet& right) {
  std::vector<ColumnId> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return {both.begin(), both.end()};
}

// Looks up one by one: the expression is small, but `columns` may be all columns of a plan.
bool is_subset(const ColumnSet& part, const ColumnSet& whole) {
  return part.size() <= whole.size() && std::all_of(part.begin(), part.end(), [&](ColumnId id) { return whole.contains(id); });
}

bool uses_any_of(const Expression& expression, const ColumnSet& columns) {
  ColumnSet used = columns_of(expression);
  return std::any_of(used.begin(), used.end(), [&](ColumnId id) { return columns.contains(id); });
}

bool uses_only(const Expression& expression, const ColumnSet& columns) {
  return is_subset(columns_of(expression), columns);
}

bool is_computed_from(const Expression& expression, const ColumnSet& columns) {
  ColumnSet used = columns_of(expression);
  return !used.empty() && is_subset(used, columns);
}

}  // namespace pistachio
