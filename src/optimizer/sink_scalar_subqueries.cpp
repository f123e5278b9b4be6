// Moves an uncorrelated scalar subquery, and a condition that compares its value, to the input whose columns it is compared with:
// FROM fact, dimension WHERE ... AND dimension.month = (SELECT ...) filters the dimension before it is joined, so that its rows can drop
// those of the fact table while they are read. The subquery's value is a column of the joined rows as before.
#include <algorithm>

#include "expr/column_set.h"
#include "expr/stability.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// A join that adds the value of an uncorrelated subquery to every row.
bool adds_scalar(const LogicalNode& node) {
  const auto* join = node.as<LogicalJoin>();
  return join != nullptr && join->kind == JoinKind::Single && join->conditions.empty() && !join->dependent && join->output.empty() &&
         free_columns(*node.children[1]).empty();
}

// The child that rows with these columns come from, if a column added to its rows passes through the node and dropping its rows drops the
// node's rows. Null: none.
LogicalPtr* input_with(const ColumnSet& columns, LogicalNode& node) {
  if (node.as<LogicalFilter>() != nullptr) return node.children.data();
  const auto* join = node.as<LogicalJoin>();
  if (join == nullptr || join->dependent || !join->output.empty()) return nullptr;
  const bool keeps_left = join->kind != JoinKind::Right && join->kind != JoinKind::Full;
  if (keeps_left && is_subset(columns, output_set(*node.children[0]))) return node.children.data();
  const bool keeps_right = join->kind == JoinKind::Inner || join->kind == JoinKind::Right;
  if (keeps_right && is_subset(columns, output_set(*node.children[1]))) return &node.children[1];
  return nullptr;
}

// Moves the scalar join below the filter with one of the filter's conditions. False: there is nowhere to move it to.
bool sink(LogicalFilter& filter, LogicalPtr& scalar) {
  const ColumnSet values = output_set(*scalar->children[1]), others = output_set(*scalar->children[0]);
  for (auto condition = filter.conditions.begin(); condition != filter.conditions.end(); ++condition) {
    // Below, a condition that can raise an error may meet rows that others would drop, and an unstable one other rows.
    if ((*condition)->can_raise() || !is_stable(**condition)) continue;
    const ColumnSet used = columns_of(**condition);
    const ColumnSet compared = intersection(used, others);
    if (compared.empty() || intersection(used, values).empty()) continue;
    LogicalPtr* place = &scalar->children[0];
    while (LogicalPtr* below = input_with(compared, **place)) place = below;
    if (place == &scalar->children[0]) continue;
    LogicalFilter moved{.conditions = {std::move(*condition)}};
    filter.conditions.erase(condition);
    LogicalPtr joined = std::move(scalar->children[0]);
    scalar->children[0] = std::move(*place);
    *place = make_node(std::move(moved), std::move(scalar));
    scalar = std::move(joined);
    return true;
  }
  return false;
}

void sink_all(LogicalPtr& node) {
  auto* filter = node->as<LogicalFilter>();
  if (filter == nullptr) return;
  // Several subqueries are joined one above the other.
  for (LogicalPtr* below = node->children.data(); adds_scalar(**below);) {
    if (!sink(*filter, *below)) below = (*below)->children.data();
  }
  if (filter->conditions.empty()) {
    LogicalPtr rest = std::move(node->children[0]);
    node = std::move(rest);
  }
}

}  // namespace

void sink_scalar_subqueries(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, sink_all); });
}

}  // namespace pistachio
