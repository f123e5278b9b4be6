// Equivalence classes of columns that are known to be equal.
#pragma once

#include <map>

#include "expr/expression.h"

namespace pistachio {

class ColumnClasses {
 public:
  // Merges the classes of both. False if they were already in the same class.
  bool unite(ColumnId left, ColumnId right) {
    ColumnId first = find(left);
    ColumnId second = find(right);
    if (first == second) return false;
    parent_[second] = first;
    return true;
  }

  // The representative of the class.
  ColumnId find(ColumnId column) {
    auto found = parent_.find(column);
    if (found == parent_.end() || found->second == column) return column;
    ColumnId root = find(found->second);
    parent_[column] = root;
    return root;
  }

 private:
  std::map<ColumnId, ColumnId> parent_;
};

}  // namespace pistachio
