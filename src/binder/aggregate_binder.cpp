#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "binder/grouping.h"
#include "expr/type_rules.h"

namespace pistachio {

void QueryBinder::bind_aggregate(const ast::Call& call, int64_t position, Grouping& grouping) {
  if (call.has_over) refuse_at(fmt::format("window functions ({} OVER) are not supported", call.name), position);
  if (!call.order_by.empty()) refuse_at(fmt::format("ORDER BY inside {} is not supported", call.name), position);
  ExpressionPlace place{.scope = grouping.scope, .input = grouping.input, .no_aggregate = "inside another aggregate"};
  AggregateCall bound;
  if (call.star) {
    if (call.name != "count") refuse_at(fmt::format("{}(*) does not exist; only count(*) does", call.name), position);
    bound.function = &count_rows_aggregate();
  } else {
    bound.function = find_aggregate(call.name);
    if (call.arguments.size() != 1) refuse_at(fmt::format("{} takes one argument", call.name), position);
    ExpressionPtr argument = bind_expression(*call.arguments[0], place);
    if (argument->is_untyped()) argument = coerce(std::move(argument), TypeKind::Varchar);
    auto types = bound.function->resolve(argument->type());
    if (!types) refuse_at(fmt::format("{} does not take {}", call.name, argument->type().to_string()), position);
    bound.argument = coerce(std::move(argument), types->first);
    bound.type = types->second;
    bound.distinct = call.distinct;
  }
  if (call.filter) bound.filter = bind_condition(*call.filter, place, "FILTER");
  auto same = [&](const ExpressionPtr& left, const ExpressionPtr& right) {
    return (!left && !right) || (left && right && same_expression(*left, *right));
  };
  // The same call twice is computed once.
  auto known = std::find_if(grouping.calls.begin(), grouping.calls.end(), [&](const AggregateCall& other) {
    return other.function == bound.function && other.distinct == bound.distinct && same(other.argument, bound.argument) &&
           same(other.filter, bound.filter);
  });
  if (known != grouping.calls.end()) {
    grouping.by_node.emplace(&call, known->id);
    return;
  }
  bound.id = columns_.add(call.name, bound.type);
  grouping.by_node.emplace(&call, bound.id);
  grouping.calls.push_back(std::move(bound));
}

// Finds aggregate calls of this query level; those inside subqueries belong to the subqueries.
void QueryBinder::collect_aggregates(const ast::Expression& expression, Grouping& grouping) {
  auto visit = [&](const ast::ExpressionPtr& child) {
    if (child) collect_aggregates(*child, grouping);
  };
  auto visit_all = [&](const std::vector<ast::ExpressionPtr>& children) { std::for_each(children.begin(), children.end(), visit); };
  struct Visitor {
    QueryBinder& binder;
    Grouping& grouping;
    int64_t position;
    const decltype(visit)& one;
    const decltype(visit_all)& all;

    void operator()(const ast::Call& call) {
      if (find_aggregate(call.name) != nullptr && !call.has_over) return binder.bind_aggregate(call, position, grouping);
      all(call.arguments);
    }
    void operator()(const ast::Operator& node) { all(node.operands); }
    void operator()(const ast::Logical& node) { all(node.operands); }
    void operator()(const ast::Test& node) { one(node.operand); }
    void operator()(const ast::Between& node) {
      one(node.operand);
      one(node.low);
      one(node.high);
    }
    void operator()(const ast::InList& node) {
      one(node.operand);
      all(node.list);
    }
    void operator()(const ast::Cast& node) { one(node.operand); }
    void operator()(const ast::Case& node) {
      one(node.operand);
      for (const ast::Case::When& when : node.whens) {
        one(when.condition);
        one(when.result);
      }
      one(node.otherwise);
    }
    void operator()(const ast::Subquery& node) { one(node.operand); }
    void operator()(const ast::Row& node) { all(node.fields); }
    void operator()(const ast::Literal&) {}
    void operator()(const ast::ColumnName&) {}
    void operator()(const ast::Star&) {}
  };
  std::visit(Visitor{*this, grouping, expression.position, visit, visit_all}, expression.node);
}

void QueryBinder::bind_groups(const ast::Select& select, Grouping& grouping) {
  ExpressionPlace place{.scope = grouping.scope, .input = grouping.input, .no_aggregate = "in GROUP BY", .is_group = true};
  for (const ast::ExpressionPtr& item : select.group_by) {
    const ast::Expression* expression = item.get();
    if (const auto* literal = std::get_if<ast::Literal>(&item->node); literal != nullptr && literal->kind == ast::Literal::Kind::Number) {
      size_t place_in_list = 0;
      const std::string& text = literal->text;
      auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), place_in_list);
      if (status != std::errc() || end != text.data() + text.size() || place_in_list < 1 || place_in_list > grouping.items->size())
        refuse_at(fmt::format("GROUP BY {}: the select list has {} columns", text, grouping.items->size()), item->position);
      expression = (*grouping.items)[place_in_list - 1]->expression.get();
    } else if (const auto* name = std::get_if<ast::ColumnName>(&item->node); name != nullptr && name->parts.size() == 1) {
      // A column of the tables goes before an alias of the select list.
      if (grouping.scope->find_here(name->parts, item->position) == nullptr) {
        for (const ast::SelectItem* candidate : *grouping.items) {
          if (candidate->alias == name->parts[0]) expression = candidate->expression.get();
        }
      }
    }
    ExpressionPtr bound = bind_expression(*expression, place);
    if (bound->is_untyped()) bound = coerce(std::move(bound), TypeKind::Varchar);
    auto known = std::find_if(grouping.groups.begin(), grouping.groups.end(),
                              [&](const NamedExpression& group) { return same_expression(*group.expression, *bound); });
    if (known != grouping.groups.end()) {
      grouping.by_item.emplace(expression, known->id);
      continue;
    }
    bool is_column = bound->kind() == ExpressionKind::Column && output_set(**grouping.input).contains(bound->column_id());
    ColumnId id = is_column ? bound->column_id() : columns_.add("group", bound->type());
    grouping.by_item.emplace(expression, id);
    grouping.groups.push_back({id, std::move(bound)});
  }
}

// Group expressions become columns of the aggregate; what is left of the tables' columns then is an error.
ExpressionPtr QueryBinder::after_grouping(ExpressionPtr expression, const Grouping& grouping) const {
  for (const NamedExpression& group : grouping.groups) {
    if (same_expression(*group.expression, *expression)) return columns_.reference(group.id, expression->position());
  }
  if (expression->kind() == ExpressionKind::Column) {
    ColumnId id = expression->column_id();
    for (const ScopeColumn& column : grouping.scope->columns()) {
      if (column.id == id)
        refuse_at(fmt::format("column {} must be in GROUP BY or inside an aggregate", column.name), expression->position());
    }
    return expression;
  }
  std::vector<ExpressionPtr> children;
  bool changed = false;
  for (const ExpressionPtr& child : expression->children()) {
    children.push_back(after_grouping(child, grouping));
    changed = changed || children.back() != child;
  }
  return changed ? expression->with_children(std::move(children)) : expression;
}

}  // namespace pistachio
