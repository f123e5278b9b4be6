#include "expr/column_set.h"

#include <algorithm>
#include <iterator>

namespace pistachio {

ColumnSet intersection(const ColumnSet& left, const ColumnSet& right) {
  std::vector<ColumnId> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return {both.begin(), both.end()};
}

bool is_subset(const ColumnSet& part, const ColumnSet& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

bool uses_any_of(const Expression& expression, const ColumnSet& columns) {
  return !intersection(columns_of(expression), columns).empty();
}

bool uses_only(const Expression& expression, const ColumnSet& columns) {
  return is_subset(columns_of(expression), columns);
}

bool is_computed_from(const Expression& expression, const ColumnSet& columns) {
  ColumnSet used = columns_of(expression);
  return !used.empty() && is_subset(used, columns);
}

}  // namespace pistachio
