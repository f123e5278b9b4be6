// Shared by the tests of optimizer rules: in-memory tables with a given number of rows, plans over them, and the text of a plan after a
// rule. Scans of in-memory tables take no filters, which stay above them. Columns are qualified by their table: "t.a".
#pragma once

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "optimizer/optimizer.h"
#include "tests/support/logical_plan_text.h"

namespace pistachio {

class RuleTest : public ::testing::Test {
 protected:
  // A scan of a new table with these columns.
  LogicalPtr scan(const std::string& name, const std::vector<std::string>& columns, int64_t rows = 1000,
                  LogicalType type = TypeKind::Integer) {
    std::vector<TableColumnInfo> infos;
    std::vector<ScanColumn> scanned;
    for (const std::string& column : columns) {
      scanned.push_back({add(name + "." + column, type), infos.size()});
      infos.push_back({column, type, ""});
    }
    std::vector<Column> stored;
    const at::Tensor zeros = at::tensor(std::vector<int64_t>(static_cast<size_t>(rows))).to(type.scalar_type());
    for (size_t i = 0; i < columns.size(); ++i) stored.push_back(Column::fixed(type, zeros));
    return make_node(LogicalScan{Table::of_chunks(name, infos, {Chunk(std::move(stored), rows)}, {}), scanned, {}, {}});
  }

  ColumnId add(const std::string& name, LogicalType type = TypeKind::Integer) { return ids_[name] = plan_.columns.add(name, type); }
  ColumnId id(const std::string& name) const { return ids_.at(name); }
  // A column by its name, a whole number, or "true" and "false".
  ExpressionPtr value(const std::string& text) const {
    auto known = ids_.find(text);
    if (known != ids_.end()) return plan_.columns.reference(known->second);
    if (text == "true" || text == "false") return Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, text == "true" ? 1 : 0));
    return Expression::constant(ScalarValue::of_integer(TypeKind::Integer, std::stoi(text)));
  }
  // "t.a = 1": two values with an operator between.
  ExpressionPtr is(const std::string& text) const {
    size_t first = text.find(' ');
    size_t second = text.rfind(' ');
    return make_call(text.substr(first + 1, second - first - 1), {value(text.substr(0, first)), value(text.substr(second + 1))});
  }
  std::vector<ExpressionPtr> all(const std::vector<std::string>& texts) const {
    std::vector<ExpressionPtr> made;
    for (const std::string& text : texts) made.push_back(is(text));
    return made;
  }

  LogicalPtr filter(const std::vector<std::string>& conditions, LogicalPtr child) {
    return make_node(LogicalFilter{all(conditions)}, std::move(child));
  }
  LogicalPtr join(JoinKind kind, const std::vector<std::string>& conditions, LogicalPtr left, LogicalPtr right) {
    return make_node(LogicalJoin{.kind = kind, .conditions = all(conditions)}, std::move(left), std::move(right));
  }
  LogicalPtr dependent(JoinKind kind, LogicalPtr left, LogicalPtr right) {
    LogicalJoin node{.kind = kind, .dependent = true};
    if (kind == JoinKind::Mark) node.mark = add("mark", TypeKind::Boolean);
    return make_node(std::move(node), std::move(left), std::move(right));
  }
  LogicalPtr aggregate(const std::vector<std::string>& groups, const std::string& counted, LogicalPtr child) {
    LogicalAggregate node;
    for (const std::string& group : groups) node.groups.push_back(id(group));
    AggregateCall call;
    call.function = &count_rows_aggregate();
    call.type = TypeKind::BigInt;
    call.id = add(counted, TypeKind::BigInt);
    node.calls.push_back(call);
    return make_node(std::move(node), std::move(child));
  }
  // An aggregate over `argument` (null: count(*)); its result gets this name.
  AggregateCall call(std::string_view function, const ExpressionPtr& argument, const std::string& result) {
    AggregateCall made;
    made.function = argument ? find_aggregate(function) : &count_rows_aggregate();
    if (argument) {
      const auto types = made.function->resolve(argument->type());
      made.argument = coerce(argument, types->first);
      made.type = types->second;
    }
    made.id = add(result, made.type);
    return made;
  }
  LogicalPtr grouped(const std::vector<std::string>& groups, std::vector<AggregateCall> calls, LogicalPtr child) {
    LogicalAggregate node;
    for (const std::string& group : groups) node.groups.push_back(id(group));
    node.calls = std::move(calls);
    return make_node(std::move(node), std::move(child));
  }
  // Columns to pass on, and new ones: {"t.a", ""} and {"sum", expression}.
  LogicalPtr project(const std::vector<std::pair<std::string, ExpressionPtr>>& columns, LogicalPtr child) {
    LogicalProject node;
    for (const auto& [name, expression] : columns) {
      ColumnId column = expression ? add(name, expression->type()) : id(name);
      node.columns.push_back({column, expression ? expression : plan_.columns.reference(column)});
    }
    return make_node(std::move(node), std::move(child));
  }
  LogicalPtr limit(int64_t rows, LogicalPtr child, int64_t offset = 0) { return make_node(LogicalLimit{rows, offset}, std::move(child)); }
  LogicalPtr sort(const std::string& key, LogicalPtr child) { return make_node(LogicalSort{{{value(key)}}, {}}, std::move(child)); }
  // row_number() as `result`.
  LogicalPtr window(const std::vector<std::string>& partition, const std::string& order, const std::string& result, LogicalPtr child) {
    LogicalWindow node{.order = {{value(order)}}};
    for (const std::string& column : partition) node.partition.push_back(id(column));
    node.calls.push_back({.id = add(result, TypeKind::BigInt), .kind = WindowKind::RowNumber, .order_keys = 1});
    return make_node(std::move(node), std::move(child));
  }
  LogicalPtr set_operation(LogicalSetOperation::Kind kind, bool is_all, const std::string& left, const std::string& right, LogicalPtr first,
                           LogicalPtr second) {
    LogicalSetOperation node{.kind = kind, .all = is_all, .columns = {add("x")}, .left_columns = {id(left)}, .right_columns = {id(right)}};
    return make_node(std::move(node), std::move(first), std::move(second));
  }

  // The plan after a rule, named as in `disabled_rules`. Verified as after every rule.
  std::string after(std::string_view rule, LogicalPtr root, const std::vector<std::string>& output = {}) {
    plan_.root = std::move(root);
    plan_.output.clear();
    for (const std::string& name : output) plan_.output.push_back({id(name), name});
    verify_plan(plan_, false);
    const std::vector<OptimizerRule>& rules = optimizer_rules();
    auto found = std::find_if(rules.begin(), rules.end(), [&](const OptimizerRule& one) { return one.name == rule; });
    if (found == rules.end()) throw InternalError(fmt::format("there is no rule {}", rule));
    found->apply(plan_, CancelToken{});
    verify_plan(plan_, rule == "unnest_subqueries");
    return "\n" + logical_text(plan_);
  }

  LogicalPlan plan_;
  std::map<std::string, ColumnId> ids_;
};

}  // namespace pistachio
