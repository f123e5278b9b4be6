// Neighbouring inner joins, taken apart: what they join and what must hold. The order of the joins is free (order_joins.cpp).
#pragma once

#include <vector>

#include "base/cancel_token.h"
#include "logical/logical_node.h"
#include "optimizer/cardinality.h"
#include "optimizer/column_classes.h"

namespace pistachio {

struct JoinRegion {
  std::vector<LogicalPtr> inputs;
  std::vector<ExpressionPtr> conditions;
};

// Equalities of columns and what follows from them. `=` also says that there is no NULL, so it only follows from its like.
class KnownEqualities {
 public:
  // False if the condition is an equality that follows from those before.
  bool add(const ConditionEstimate& condition) {
    if (!condition.is_equality) return true;
    bool is_new = all_.unite(condition.left, condition.right);
    return condition.is_null_safe ? is_new : strict_.unite(condition.left, condition.right);
  }

 private:
  ColumnClasses strict_;
  ColumnClasses all_;
};

// For more inputs than a search over sets of them can order: a greedy choice in nearly linear time. Throws Cancelled.
LogicalPtr order_many_joins(const LogicalPlan& plan, JoinRegion region, const CancelToken& token);

}  // namespace pistachio
