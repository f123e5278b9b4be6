// Estimates of how many rows a plan gives, from footers (rows, least and greatest values) and rules of thumb where they say nothing.
#pragma once

#include <unordered_map>

#include "logical/logical_node.h"

namespace pistachio {

// What a condition does to the rows of a cross product.
struct ConditionEstimate {
  double share = 1;  // of the pairs for which it is true, taken by itself
  // column = column: what several of them have in common.
  bool is_equality = false;
  bool is_null_safe = false;  // IS NOT DISTINCT FROM
  ColumnId left;
  ColumnId right;
  const LogicalNode* left_source = nullptr;  // where the column comes from: a scan, a grouping, ...
  const LogicalNode* right_source = nullptr;
  double most_combinations = 0;  // no source has more rows
};

// The share that is left of all conditions together. An equality that follows from others does not count (a = b, b = c, a = c), and several
// between the same two tables are a key of several columns, which has no more values than the smaller table has rows.
double joint_share(std::vector<const ConditionEstimate*> conditions);

// Remembers what it was asked: the plan must not change its rows meanwhile.
class CardinalityEstimator {
 public:
  explicit CardinalityEstimator(const LogicalPlan& plan) : plan_(plan) {}

  double rows(const LogicalNode& node) const;
  ConditionEstimate estimate(const Expression& condition, const std::vector<const LogicalNode*>& inputs) const;
  // How many different values a column has in the rows of a node.
  double distinct_values(ColumnId column, const LogicalNode& node) const;

 private:
  using Nodes = std::vector<const LogicalNode*>;

  double estimate_rows(const LogicalNode& node) const;
  double join_rows(const LogicalNode& node, const LogicalJoin& join) const;
  double share_of_all(const std::vector<ExpressionPtr>& conditions, const Nodes& inputs) const;
  double selectivity(const Expression& condition, const Nodes& inputs) const;
  double equality_share(const Expression& condition, const Nodes& inputs) const;
  ConditionEstimate column_equality(ColumnId left, ColumnId right, const Nodes& inputs) const;

  const LogicalPlan& plan_;
  mutable std::unordered_map<const LogicalNode*, double> known_rows_;
};

}  // namespace pistachio
