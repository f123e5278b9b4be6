// Joins of unnested subqueries check for a second match (single joins) and for NULL keys (IS NOT DISTINCT FROM). Where neither can occur, as
// with an aggregate grouped by its keys, outer joins on = have the same result. Unlike the others, they become inner joins below a filter
// that rejects NULL, take part in join ordering, and may have the outer query as build side, whose keys then reach the subquery's scan as a
// join filter: only the groups in demand are computed.
#include <algorithm>

#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// The columns of a projection's input that `columns` of its output merely pass on.
ColumnSet passed_on(const LogicalProject& project, const ColumnSet& columns) {
  ColumnSet below;
  ColumnSet computed;
  for (const NamedExpression& column : project.columns) {
    computed.insert(column.id);
    if (columns.contains(column.id) && column.expression->kind() == ExpressionKind::Column) below.insert(column.expression->column_id());
  }
  if (project.keeps_input) {
    for (ColumnId column : columns) {
      if (!computed.contains(column)) below.insert(column);
    }
  }
  return below;
}

// Whether each row of the node is one of its input, with the columns it has there; windows add columns.
bool drops_rows_only(const LogicalNode& node) {
  return node.as<LogicalFilter>() != nullptr || node.as<LogicalSort>() != nullptr || node.as<LogicalLimit>() != nullptr ||
         node.as<LogicalWindow>() != nullptr;
}

// Whether no two rows have the same values in these columns, where NULL equals NULL.
bool is_unique_on(const LogicalNode& node, const ColumnSet& columns) {
  if (const auto* aggregate = node.as<LogicalAggregate>()) return is_subset({aggregate->groups.begin(), aggregate->groups.end()}, columns);
  if (const auto* project = node.as<LogicalProject>()) return is_unique_on(*node.children[0], passed_on(*project, columns));
  if (const auto* limit = node.as<LogicalLimit>(); limit != nullptr && limit->limit.value_or(2) <= 1)
    return is_subset({limit->groups.begin(), limit->groups.end()}, columns);
  const auto* join = node.as<LogicalJoin>();
  bool passes_left_rows = join != nullptr && (join->kind == JoinKind::Semi || join->kind == JoinKind::Anti ||
                                              join->kind == JoinKind::Mark || join->kind == JoinKind::Single);
  bool drops_rows = drops_rows_only(node);
  return (passes_left_rows || drops_rows) && is_unique_on(*node.children[0], columns);
}

bool says_not_null(const Expression& condition, ColumnId column) {
  return condition.kind() == ExpressionKind::Call && condition.function().name == "is not null" &&
         condition.children()[0]->kind() == ExpressionKind::Column && condition.children()[0]->column_id() == column;
}

bool is_never_null(const LogicalNode& node, ColumnId column) {
  if (const auto* filter = node.as<LogicalFilter>()) {
    auto says = [&](const ExpressionPtr& condition) { return says_not_null(*condition, column); };
    if (std::any_of(filter->conditions.begin(), filter->conditions.end(), says)) return true;
  }
  if (const auto* aggregate = node.as<LogicalAggregate>()) {
    bool is_group = std::find(aggregate->groups.begin(), aggregate->groups.end(), column) != aggregate->groups.end();
    return is_group && is_never_null(*node.children[0], column);
  }
  if (const auto* project = node.as<LogicalProject>()) {
    ColumnSet one;
    one.insert(column);
    ColumnSet below = passed_on(*project, one);
    return !below.empty() && is_never_null(*node.children[0], *below.begin());
  }
  bool drops_rows = drops_rows_only(node);
  return drops_rows && is_never_null(*node.children[0], column);
}

// The two columns of `column = column` or `column IS NOT DISTINCT FROM column`, the left side's first.
std::optional<std::pair<ColumnId, ColumnId>> joined_columns(const Expression& condition, const ColumnSet& left, const ColumnSet& right) {
  if (condition.kind() != ExpressionKind::Call || condition.children().size() != 2) return std::nullopt;
  if (condition.function().name != "=" && condition.function().name != "is not distinct from") return std::nullopt;
  const Expression& first = *condition.children()[0];
  const Expression& second = *condition.children()[1];
  if (first.kind() != ExpressionKind::Column || second.kind() != ExpressionKind::Column) return std::nullopt;
  if (left.contains(first.column_id()) && right.contains(second.column_id())) return std::pair(first.column_id(), second.column_id());
  if (left.contains(second.column_id()) && right.contains(first.column_id())) return std::pair(second.column_id(), first.column_id());
  return std::nullopt;
}

// Relaxes a single join whose right side has at most one row per key: there is no second match to raise an error. Without keys it is a
// cross join with one row, where nothing is gained.
void relax_single_join(const LogicalNode& node, LogicalJoin& join, const ColumnSet& left, const ColumnSet& right) {
  ColumnSet keys;
  for (const ExpressionPtr& condition : join.conditions) {
    if (auto columns = joined_columns(*condition, left, right)) keys.insert(columns->second);
  }
  if (!keys.empty() && is_unique_on(node.right(), keys)) join.kind = JoinKind::Left;
}

void relax(LogicalNode& node) {
  auto* join = node.as<LogicalJoin>();
  auto is_null_safe = [](const ExpressionPtr& condition) {
    return condition->kind() == ExpressionKind::Call && condition->function().name == "is not distinct from";
  };
  if (join == nullptr || join->dependent) return;
  bool has_null_safe = std::any_of(join->conditions.begin(), join->conditions.end(), is_null_safe);
  if (join->kind != JoinKind::Single && !has_null_safe) return;
  const ColumnSet left = output_set(node.left());
  const ColumnSet right = output_set(node.right());
  if (join->kind == JoinKind::Single) relax_single_join(node, *join, left, right);
  for (ExpressionPtr& condition : join->conditions) {
    if (!is_null_safe(condition)) continue;
    auto columns = joined_columns(*condition, left, right);
    if (columns && (is_never_null(node.right(), columns->second) || is_never_null(node.left(), columns->first)))
      condition = make_call("=", condition->children());
  }
}

}  // namespace

void relax_correlated_joins(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [](LogicalPtr& node) { relax(*node); }); });
}

}  // namespace pistachio
