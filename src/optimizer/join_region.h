// A region of adjacent inner joins, as a list of inputs and conditions whose join order is free (order_joins.cpp).
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

// Equalities of columns and their transitive closure. `=` also excludes NULL, so it is only implied by other `=`.
class KnownEqualities {
 public:
  // False if the condition is an equality implied by earlier ones.
  bool add(const ConditionEstimate& condition) {
    if (!condition.is_equality) return true;
    bool is_new = all_.unite(condition.left, condition.right);
    return condition.is_null_safe ? is_new : strict_.unite(condition.left, condition.right);
  }

 private:
  ColumnClasses strict_;
  ColumnClasses all_;
};

// Greedy ordering in nearly linear time, for too many inputs for a search over subsets. Throws Cancelled.
LogicalPtr order_many_joins(const CardinalityEstimator& estimator, JoinRegion region, const CancelToken& token);

}  // namespace pistachio
