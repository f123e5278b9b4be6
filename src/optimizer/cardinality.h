// Estimates of how many rows a plan gives, from footers (rows, least and greatest values) and rules of thumb where they say nothing.
#pragma once

#include "logical/logical_node.h"

namespace pistachio {

class CardinalityEstimator {
 public:
  explicit CardinalityEstimator(const LogicalPlan& plan) : plan_(plan) {}

  double rows(const LogicalNode& node) const;
  // The share of rows (of a cross product) for which a condition is true.
  double selectivity(const Expression& condition, const std::vector<const LogicalNode*>& inputs) const;
  // How many different values a column has in the rows of a node.
  double distinct_values(ColumnId column, const LogicalNode& node) const;

 private:
  double scan_rows(const LogicalScan& scan) const;
  double join_rows(const LogicalNode& node, const LogicalJoin& join) const;

  const LogicalPlan& plan_;
};

}  // namespace pistachio
