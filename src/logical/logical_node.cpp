#include "logical/logical_node.h"

#include <algorithm>

#include "base/check.h"
#include "base/overloaded.h"

namespace pistachio {

namespace {

std::vector<ColumnId> join_columns(const LogicalNode& node, const LogicalJoin& join) {
  if (!join.output.empty()) return join.output;
  std::vector<ColumnId> columns;
  if (gives_left_columns(join.kind)) columns = output_columns(node.left());
  if (join.kind == JoinKind::Mark) columns.push_back(join.mark);
  if (gives_right_columns(join.kind)) {
    std::vector<ColumnId> right = output_columns(node.right());
    columns.insert(columns.end(), right.begin(), right.end());
  }
  return columns;
}

}  // namespace

bool gives_left_columns(JoinKind kind) {
  return kind != JoinKind::RightSemi && kind != JoinKind::RightAnti;
}

bool gives_right_columns(JoinKind kind) {
  return kind != JoinKind::Semi && kind != JoinKind::Anti && kind != JoinKind::Mark;
}

std::vector<ColumnId> output_columns(const LogicalNode& node) {
  return std::visit(Overloaded{[](const LogicalScan& scan) {
                                 std::vector<ColumnId> columns;
                                 for (const ScanColumn& column : scan.columns) columns.push_back(column.id);
                                 return columns;
                               },
                               [](const LogicalValues& values) { return values.columns; },
                               [&](const LogicalProject& project) {
                                 std::vector<ColumnId> columns;
                                 if (project.keeps_input) columns = output_columns(*node.children[0]);
                                 for (const NamedExpression& column : project.columns) columns.push_back(column.id);
                                 return columns;
                               },
                               [&](const LogicalJoin& join) { return join_columns(node, join); },
                               [](const LogicalAggregate& aggregate) {
                                 std::vector<ColumnId> columns = aggregate.groups;
                                 for (const AggregateCall& call : aggregate.calls) columns.push_back(call.id);
                                 if (!aggregate.sets.empty()) columns.push_back(aggregate.set_number);
                                 return columns;
                               },
                               [&](const LogicalWindow& window) {
                                 std::vector<ColumnId> columns = window.kept ? *window.kept : output_columns(*node.children[0]);
                                 for (const WindowCall& call : window.calls) columns.push_back(call.id);
                                 return columns;
                               },
                               [](const LogicalSetOperation& operation) { return operation.columns; },
                               [](const LogicalSharedRead& read) { return read.columns; },
                               [&](const LogicalRepeat& repeat) {
                                 std::vector<ColumnId> columns = output_columns(*node.children[0]);
                                 std::erase(columns, repeat.times);
                                 return columns;
                               },
                               [&](const auto&) { return output_columns(*node.children[0]); }},
                    node.node);
}

ColumnSet output_set(const LogicalNode& node) {
  std::vector<ColumnId> columns = output_columns(node);
  return {columns.begin(), columns.end()};
}

ColumnSet output_set(const LogicalNode& node, std::vector<ColumnSet> inputs) {
  if (node.as<LogicalFilter>() != nullptr || node.as<LogicalSort>() != nullptr || node.as<LogicalLimit>() != nullptr)
    return std::move(inputs[0]);
  if (const auto* project = node.as<LogicalProject>(); project != nullptr && project->keeps_input) {
    ColumnSet given = std::move(inputs[0]);
    for (const NamedExpression& column : project->columns) given.insert(column.id);
    return given;
  }
  if (const auto* window = node.as<LogicalWindow>()) {
    ColumnSet given = window->kept ? ColumnSet(window->kept->begin(), window->kept->end()) : std::move(inputs[0]);
    for (const WindowCall& call : window->calls) given.insert(call.id);
    return given;
  }
  const auto* join = node.as<LogicalJoin>();
  if (join == nullptr || !join->output.empty()) return output_set(node);
  ColumnSet given;
  if (gives_left_columns(join->kind)) given = std::move(inputs[0]);
  if (gives_right_columns(join->kind)) given.insert(inputs[1]);
  if (join->kind == JoinKind::Mark) given.insert(join->mark);
  return given;
}

void for_each_expression(LogicalNode& node, const std::function<void(ExpressionPtr&)>& visit) {
  std::visit(Overloaded{[&](LogicalScan& scan) { std::for_each(scan.filters.begin(), scan.filters.end(), visit); },
                        [&](LogicalFilter& filter) { std::for_each(filter.conditions.begin(), filter.conditions.end(), visit); },
                        [&](LogicalProject& project) {
                          for (NamedExpression& column : project.columns) visit(column.expression);
                        },
                        [&](LogicalJoin& join) {
                          std::for_each(join.conditions.begin(), join.conditions.end(), visit);
                          std::for_each(join.comparisons.begin(), join.comparisons.end(), visit);
                        },
                        [&](LogicalAggregate& aggregate) {
                          for (AggregateCall& call : aggregate.calls) for_each_expression(call, visit);
                        },
                        [&](LogicalSort& sort) {
                          for (SortKey& key : sort.keys) visit(key.expression);
                        },
                        [&](LogicalLimit& limit) {
                          for (SortKey& key : limit.keys) visit(key.expression);
                        },
                        [&](LogicalWindow& window) {
                          for (SortKey& key : window.order) visit(key.expression);
                          for (WindowCall& call : window.calls) for_each_expression(call, visit);
                        },
                        [](auto&) {}},
             node.node);
}

void for_each_expression(const LogicalNode& node, const std::function<void(const ExpressionPtr&)>& visit) {
  for_each_expression(const_cast<LogicalNode&>(node), [&](ExpressionPtr& expression) { visit(expression); });
}

namespace {

struct SubtreeColumns {
  ColumnSet free;
  ColumnSet given;
};

SubtreeColumns columns_of_subtree(const LogicalNode& node) {
  ColumnSet outer;
  ColumnSet own;
  std::vector<ColumnSet> inputs;
  const auto* join = node.as<LogicalJoin>();
  for (const LogicalPtr& child : node.children) {
    SubtreeColumns below = columns_of_subtree(*child);
    if (join != nullptr && join->dependent && child == node.children[1]) below.free.erase(own);
    outer.insert(below.free);
    own.insert(below.given);
    inputs.push_back(std::move(below.given));
  }
  if (const auto* scan = node.as<LogicalScan>()) {
    for (const ScanColumn& column : scan->columns) own.insert(column.id);
    for (const ScanColumn& column : scan->hidden) own.insert(column.id);
  }
  ColumnSet free;
  for_each_expression(node, [&](const ExpressionPtr& expression) { collect_columns(*expression, free); });
  if (const auto* aggregate = node.as<LogicalAggregate>()) free.insert(aggregate->groups.begin(), aggregate->groups.end());
  if (const auto* limit = node.as<LogicalLimit>()) free.insert(limit->groups.begin(), limit->groups.end());
  if (const auto* window = node.as<LogicalWindow>()) free.insert(window->partition.begin(), window->partition.end());
  free.erase(own);
  free.insert(outer);
  return {std::move(free), output_set(node, std::move(inputs))};
}

}  // namespace

ColumnSet free_columns(const LogicalNode& node) {
  return columns_of_subtree(node).free;
}

LogicalPtr clone(const LogicalNode& node) {
  LogicalPtr copy = std::make_unique<LogicalNode>();
  copy->node = node.node;
  for (const LogicalPtr& child : node.children) copy->children.push_back(clone(*child));
  return copy;
}

namespace {

void visit_reads(const LogicalPlan& plan, const LogicalNode& node, std::vector<bool>& visited, std::vector<size_t>& order) {
  for (const LogicalPtr& child : node.children) visit_reads(plan, *child, visited, order);
  const auto* read = node.as<LogicalSharedRead>();
  if (read == nullptr || read->is_working_table || visited[read->shared]) return;
  visited[read->shared] = true;
  visit_reads(plan, *plan.shared[read->shared], visited, order);
  order.push_back(read->shared);
}

}  // namespace

std::vector<size_t> shared_plans_in_use(const LogicalPlan& plan) {
  std::vector<size_t> order;
  std::vector<bool> visited(plan.shared.size());
  visit_reads(plan, *plan.root, visited, order);
  return order;
}

}  // namespace pistachio
