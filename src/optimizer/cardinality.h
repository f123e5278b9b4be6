// Cardinality estimates, from footers (row counts, minima and maxima) and rules of thumb where they do not help.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "logical/logical_node.h"

namespace pistachio {

// The effect of a condition on a cross product.
struct ConditionEstimate {
  double share = 1;  // selectivity of the condition alone
  // For column = column, to combine several of them.
  bool is_equality = false;
  bool is_null_safe = false;  // IS NOT DISTINCT FROM
  ColumnId left;
  ColumnId right;
  const LogicalNode* left_source = nullptr;  // the node that produces the column: a scan, a grouping, ...
  const LogicalNode* right_source = nullptr;
  double most_combinations = 0;  // rows of the smaller source
};

// The combined selectivity of all conditions. Redundant equalities do not count (a = b, b = c, a = c), and several between the same two
// tables form a composite key, which has at most as many values as the smaller table has rows.
double joint_share(std::vector<const ConditionEstimate*> conditions);

// The node that produces a column, looking through nodes that only pass it on.
struct ColumnSource {
  const LogicalNode* node;
  ColumnId column;  // its id there
};

// Caches its estimates: the cardinalities of the plan must not change during its lifetime.
class CardinalityEstimator {
 public:
  explicit CardinalityEstimator(const LogicalPlan& plan) : plan_(plan) {}

  double rows(const LogicalNode& node) const;
  ConditionEstimate estimate(const Expression& condition, const std::vector<const LogicalNode*>& inputs) const;
  // Number of distinct values of a column in the rows of a node.
  double distinct_values(ColumnId column, const LogicalNode& node) const;

 private:
  using Nodes = std::vector<const LogicalNode*>;
  struct NodeColumn {
    const LogicalNode* node;
    ColumnId column;
    bool operator==(const NodeColumn&) const = default;
  };
  struct HashNodeColumn {
    size_t operator()(const NodeColumn& key) const {
      return std::hash<const LogicalNode*>()(key.node) * 31 + static_cast<size_t>(key.column.value);
    }
  };
  template <typename Value>
  using ByNodeColumn = std::unordered_map<NodeColumn, Value, HashNodeColumn>;

  // None if the node does not output the column.
  std::optional<ColumnSource> source_of(ColumnId column, const LogicalNode& node) const;
  std::optional<ColumnSource> source_below_join(ColumnId column, const LogicalNode& node, const LogicalJoin& join) const;
  // The input from which a node passes on a column; null if the node produces it.
  const LogicalNode* child_with(ColumnId column, const LogicalNode& node) const;
  const LogicalNode* input_with(ColumnId column, const Nodes& inputs) const;
  double estimate_distinct_values(ColumnId column, const LogicalNode& node) const;

  double estimate_rows(const LogicalNode& node) const;
  double join_rows(const LogicalNode& node, const LogicalJoin& join) const;
  double share_of_all(const std::vector<ExpressionPtr>& conditions, const Nodes& inputs) const;
  double selectivity(const Expression& condition, const Nodes& inputs) const;
  double equality_share(const Expression& condition, const Nodes& inputs) const;
  ConditionEstimate column_equality(ColumnId left, ColumnId right, const Nodes& inputs) const;

  const LogicalPlan& plan_;
  mutable std::unordered_map<const LogicalNode*, double> known_rows_;
  // Only for joins: each join of a long chain would walk down the whole chain.
  mutable ByNodeColumn<ColumnSource> known_sources_;
  mutable ByNodeColumn<double> known_values_;
};

}  // namespace pistachio
