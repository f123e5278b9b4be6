// Pushes semi and anti joins below other joins. A semi join that uses only columns of one input can filter that input instead of the joined
// rows. It is pushed if the input has no more rows than the join's result: then fewer rows are probed, and fewer rows reach the join.
#include <algorithm>

#include "expr/column_set.h"
#include "optimizer/cardinality.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// The columns of the left side that the conditions use.
ColumnSet used_of_left(const LogicalNode& node, const LogicalJoin& join) {
  ColumnSet left = output_set(node.left());
  ColumnSet used;
  for (const ExpressionPtr& condition : join.conditions) {
    for (ColumnId column : columns_of(*condition)) {
      if (left.contains(column)) used.insert(column);
    }
  }
  return used;
}

// The input that the semi join can be pushed to: dropping its rows must drop exactly the joined rows.
std::optional<size_t> input_to_select(const LogicalPlan& plan, const LogicalNode& selection) {
  const LogicalNode& below = selection.left();
  const auto* join = below.as<LogicalJoin>();
  if (join == nullptr || (join->kind != JoinKind::Inner && join->kind != JoinKind::Left)) return std::nullopt;
  ColumnSet used = used_of_left(selection, *selection.as<LogicalJoin>());
  if (used.empty()) return std::nullopt;
  CardinalityEstimator estimator(plan);
  size_t inputs = join->kind == JoinKind::Inner ? 2 : 1;
  for (size_t i = 0; i < inputs; ++i) {
    bool is_inside = is_subset(used, output_set(*below.children[i]));
    if (is_inside && estimator.rows(*below.children[i]) <= estimator.rows(below)) return i;
  }
  return std::nullopt;
}

void push_down(const LogicalPlan& plan, LogicalPtr& node) {
  const auto* join = node->as<LogicalJoin>();
  if (join == nullptr || (join->kind != JoinKind::Semi && join->kind != JoinKind::Anti)) return;
  std::optional<size_t> input = input_to_select(plan, *node);
  if (!input) return;
  LogicalPtr selection = std::move(node);
  node = std::move(selection->children[0]);
  selection->children[0] = std::move(node->children[*input]);
  node->children[*input] = std::move(selection);
  push_down(plan, node->children[*input]);
}

}  // namespace

void push_down_semi_joins(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { push_down(plan, node); }); });
}

}  // namespace pistachio
