// Lowers UNION, INTERSECT and EXCEPT, with and without ALL, to UNION ALL and grouping: both sides are tagged and concatenated, equal rows
// are counted per side, and the two counts determine how often the row is in the result.
#include "expr/aggregate_function.h"
#include "expr/function_table.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

using Kind = LogicalSetOperation::Kind;

// Projects `node` to the operation's column ids plus the tag.
LogicalPtr with_flag(LogicalPlan& plan, LogicalPtr node, const std::vector<ColumnId>& columns, bool is_left, std::vector<ColumnId>& ids) {
  LogicalProject project;
  for (ColumnId column : columns) {
    ColumnId id = plan.columns.add(plan.columns.name(column), plan.columns.type(column));
    project.columns.push_back({id, plan.columns.reference(column)});
    ids.push_back(id);
  }
  ColumnId flag = plan.columns.add("is_left", TypeKind::Boolean);
  project.columns.push_back({flag, Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, is_left ? 1 : 0))});
  ids.push_back(flag);
  return make_node(std::move(project), std::move(node));
}

void lower(LogicalPlan& plan, LogicalPtr& node) {
  auto* operation = node->as<LogicalSetOperation>();
  if (operation == nullptr || operation->working_table || (operation->kind == Kind::Union && operation->all)) return;
  if (operation->kind == Kind::Union) {
    LogicalAggregate distinct{.groups = operation->columns};
    operation->all = true;
    LogicalPtr all = std::move(node);
    node = make_node(std::move(distinct), std::move(all));
    return;
  }
  Kind kind = operation->kind;
  bool all = operation->all;
  LogicalAggregate counts{.groups = operation->columns};
  LogicalSetOperation both{.kind = Kind::Union, .all = true, .columns = operation->columns};
  ColumnId flag = plan.columns.add("is_left", TypeKind::Boolean);
  both.columns.push_back(flag);
  LogicalPtr left = with_flag(plan, std::move(node->children[0]), operation->left_columns, true, both.left_columns);
  LogicalPtr right = with_flag(plan, std::move(node->children[1]), operation->right_columns, false, both.right_columns);
  auto count = [&](ExpressionPtr filter) {
    AggregateCall call;
    call.id = plan.columns.add("count", TypeKind::BigInt);
    call.function = &count_rows_aggregate();
    call.filter = std::move(filter);
    counts.calls.push_back(call);
    return plan.columns.reference(call.id);
  };
  ExpressionPtr in_left = count(plan.columns.reference(flag));
  ExpressionPtr in_right = count(make_call("not", {plan.columns.reference(flag)}));
  std::vector<ColumnId> columns = counts.groups;
  LogicalPtr counted = make_node(std::move(counts), make_node(std::move(both), std::move(left), std::move(right)));
  ExpressionPtr zero = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 0));
  std::vector<ExpressionPtr> conditions;
  if (kind == Kind::Intersect) conditions = {make_call(">", {in_left, zero}), make_call(">", {in_right, zero})};
  if (kind == Kind::Except && !all) conditions = {make_call(">", {in_left, zero}), make_call("=", {in_right, zero})};
  if (kind == Kind::Except && all) conditions = {make_call(">", {in_left, in_right})};
  LogicalPtr filtered = make_node(LogicalFilter{std::move(conditions)}, std::move(counted));
  LogicalProject project;
  for (ColumnId column : columns) project.columns.push_back({column, plan.columns.reference(column)});
  if (!all) {
    node = make_node(std::move(project), std::move(filtered));
    return;
  }
  ExpressionPtr times =
      kind == Kind::Except
          ? make_call("-", {in_left, in_right})
          : Expression::conditional(ExpressionKind::Case, {make_call("<", {in_left, in_right}), in_left, in_right}, TypeKind::BigInt);
  ColumnId repeat = plan.columns.add("times", TypeKind::BigInt);
  project.columns.push_back({repeat, times});
  node = make_node(LogicalRepeat{repeat}, make_node(std::move(project), std::move(filtered)));
}

}  // namespace

void lower_set_operations(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { lower(plan, node); }); });
}

}  // namespace pistachio
