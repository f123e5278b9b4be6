// Subqueries in expressions. Each becomes a dependent join with the plan that the expression is evaluated on: Single for scalars, Mark for
// EXISTS, IN, ANY and ALL. The expression becomes a column of that join. The optimizer removes the dependence.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "binder/expression_binding.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// The negated comparison of ALL: x > ALL (q) is NOT (x <= ANY (q)).
std::string_view negated_comparison(std::string_view name) {
  if (name == "=") return "<>";
  if (name == "<>") return "=";
  if (name == "<") return ">=";
  if (name == "<=") return ">";
  if (name == ">") return "<=";
  return "<";
}

// With grouping sets the columns of groups are not those of the tables.
void rename_columns(LogicalNode& node, const std::map<ColumnId, ColumnId>& renamed, const ColumnRegistry& registry) {
  auto rename = [&](ColumnId& column) {
    auto found = renamed.find(column);
    if (found != renamed.end()) column = found->second;
  };
  for_each_expression(node, [&](ExpressionPtr& expression) {
    expression = replace_columns(expression, [&](ColumnId column) {
      auto found = renamed.find(column);
      return found == renamed.end() ? nullptr : registry.reference(found->second);
    });
  });
  if (auto* aggregate = node.as<LogicalAggregate>()) {
    std::for_each(aggregate->groups.begin(), aggregate->groups.end(), rename);
    for (std::vector<ColumnId>& set : aggregate->sets) std::for_each(set.begin(), set.end(), rename);
  }
  if (auto* limit = node.as<LogicalLimit>()) std::for_each(limit->groups.begin(), limit->groups.end(), rename);
  if (auto* window = node.as<LogicalWindow>()) std::for_each(window->partition.begin(), window->partition.end(), rename);
  for (LogicalPtr& child : node.children) rename_columns(*child, renamed, registry);
}

bool uses_any(const ColumnSet& columns, const ColumnSet& of) {
  return std::any_of(columns.begin(), columns.end(), [&](ColumnId column) { return of.contains(column); });
}

}  // namespace

bool OuterJoinSides::uses_both(const ColumnSet& columns) const {
  return uses_any(columns, output_set(**left)) && uses_any(columns, output_set(**right));
}

LogicalPtr* OuterJoinSides::side_of(const ColumnSet& columns) const {
  if (uses_both(columns)) return optional;
  return uses_any(columns, output_set(**left)) ? left : right;
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_scalar_subquery(BoundQuery bound, int64_t position, LogicalPtr& input) {
  if (bound.output.size() != 1)
    refuse_at(fmt::format("a subquery used as a value must give one column, not {}", bound.output.size()), position);
  ColumnId value = bound.output[0].id;
  input = make_node(LogicalJoin{.kind = JoinKind::Single, .dependent = true}, std::move(input), std::move(bound.plan));
  return binder_.columns_.reference(value, position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_mark(LogicalPtr right, std::vector<ExpressionPtr> conditions, int64_t position,
                                                        LogicalPtr& input) {
  ColumnId mark = binder_.columns_.add("mark", TypeKind::Boolean);
  LogicalJoin join{.kind = JoinKind::Mark, .comparisons = std::move(conditions), .mark = mark, .dependent = true};
  input = make_node(std::move(join), std::move(input), std::move(right));
  return binder_.columns_.reference(mark, position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_long_in_list(ExpressionPtr operand, const std::vector<ExpressionPtr>& list,
                                                                int64_t position, LogicalPtr& input) {
  std::vector<ExpressionPtr> all = list;
  all.push_back(operand);
  LogicalType type = common_type_of(all, "IN", position);
  // Items round to REAL, but an exact operand does not: as in operand = item, the two compare as DOUBLE.
  bool is_exact = type.kind() == TypeKind::Real && !operand->is_untyped() && is_exact_number(operand->type());
  LogicalType compared = is_exact ? LogicalType(TypeKind::Double) : type;
  LogicalValues values;
  values.columns.push_back(binder_.columns_.add("item", compared));
  for (const ExpressionPtr& item : list) values.rows.push_back({coerce(coerce(item, type), compared)->value()});
  ExpressionPtr equal = make_call("=", {coerce(std::move(operand), compared), binder_.columns_.reference(values.columns[0])}, position);
  return bind_mark(make_node(std::move(values)), {equal}, position, input);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_subquery(const ast::Subquery& node, int64_t position) {
  using Kind = ast::Subquery::Kind;
  if (place_.input == nullptr && place_.sides == nullptr)
    refuse_at(fmt::format("a subquery cannot be used {}", place_.no_subquery), position);
  std::vector<ExpressionPtr> operands;
  auto add_operand = [&](const ast::Expression& operand) {
    ExpressionPtr value = bind(operand);
    operands.push_back(place_.regroup ? place_.regroup(std::move(value)) : std::move(value));
  };
  if (node.operand) {
    if (const auto* row = std::get_if<ast::Row>(&node.operand->node)) {
      for (const ast::ExpressionPtr& field : row->fields) add_operand(*field);
    } else {
      add_operand(*node.operand);
    }
  }
  BoundQuery bound = binder_.bind_query(*node.query, place_.scope);
  if (place_.regroup) {
    // Columns of this query that the subquery uses must be grouped, too.
    std::map<ColumnId, ColumnId> renamed;
    for (ColumnId column : free_columns(*bound.plan)) {
      const ExpressionPtr group = place_.regroup(binder_.columns_.reference(column, position));
      if (group->column_id() != column) renamed.emplace(column, group->column_id());
    }
    if (!renamed.empty()) rename_columns(*bound.plan, renamed, binder_.columns_);
  }
  ColumnSet used = free_columns(*bound.plan);
  for (const ExpressionPtr& operand : operands) collect_columns(*operand, used);
  LogicalPtr* input = place_.input_for(used);
  if (input == nullptr) refuse_at("a subquery in the ON clause of a FULL JOIN cannot refer to both sides of the join", position);
  if (node.kind == Kind::Scalar) return bind_scalar_subquery(std::move(bound), position, *input);
  if (node.kind == Kind::Exists) return bind_mark(std::move(bound.plan), {}, position, *input);

  if (bound.output.size() != operands.size())
    refuse_at(fmt::format("the subquery must give {} column(s) to compare with, not {}", operands.size(), bound.output.size()), position);
  std::string comparison = node.kind == Kind::In ? "=" : node.comparison;
  bool is_all = node.kind == Kind::All;
  if (is_all) comparison = negated_comparison(comparison);
  std::vector<FieldPair> pairs;
  for (size_t i = 0; i < operands.size(); ++i) pairs.emplace_back(operands[i], binder_.columns_.reference(bound.output[i].id));
  std::vector<ExpressionPtr> conditions;
  if (comparison == "=" || pairs.size() == 1) {
    // One condition per field, so that joins can use them as keys.
    for (const FieldPair& pair : pairs) conditions.push_back(make_call(comparison, {pair.first, pair.second}, position));
  } else {
    conditions.push_back(compare_rows(pairs, comparison, position));
  }
  ExpressionPtr mark = bind_mark(std::move(bound.plan), std::move(conditions), position, *input);
  return is_all ? make_call("not", {mark}, position) : mark;
}

}  // namespace pistachio
