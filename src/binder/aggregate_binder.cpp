#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "binder/syntax_walk.h"
#include "expr/type_rules.h"
#include "parser/ast_text.h"

namespace pistachio {

namespace {

// The columns that the argument and the filter of an aggregate refer to directly.
struct ArgumentNames {
  std::vector<const ast::Expression*> columns;
  bool has_subquery = false;

  void collect(const ast::Expression& expression) {
    if (std::holds_alternative<ast::ColumnName>(expression.node)) columns.push_back(&expression);
    if (std::holds_alternative<ast::Subquery>(expression.node)) has_subquery = true;
    for_each_child(expression, [&](const ast::Expression& child) { collect(child); });
  }
};

}  // namespace

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
  // Equal calls are computed once.
  size_t hash = std::hash<const void*>()(bound.function) + (bound.argument ? bound.argument->hash() : 0) +
                3 * (bound.filter ? bound.filter->hash() : 0);
  auto [first, last] = grouping.calls_by_hash.equal_range(hash);
  for (auto candidate = first; candidate != last; ++candidate) {
    const AggregateCall& other = grouping.calls[candidate->second];
    if (other.function != bound.function || other.distinct != bound.distinct || !same(other.argument, bound.argument) ||
        !same(other.filter, bound.filter))
      continue;
    grouping.by_node.emplace(&call, other.id);
    return;
  }
  grouping.calls_by_hash.emplace(hash, grouping.calls.size());
  bound.id = columns_.add(call.name, bound.type);
  grouping.by_node.emplace(&call, bound.id);
  if (grouping.aggregate != nullptr) grouping.aggregate->calls.push_back(bound);
  grouping.calls.push_back(std::move(bound));
}

// Finds aggregate calls of this query level. Those inside subqueries are handled when the subqueries are bound.
void QueryBinder::collect_aggregates(const ast::Expression& expression, Grouping& grouping) {
  const auto* call = std::get_if<ast::Call>(&expression.node);
  if (call != nullptr && find_aggregate(call->name) != nullptr && !call->has_over) {
    bool is_own = find_outer_owner(*call, expression.position, *grouping.scope) == nullptr;
    if (is_own) bind_aggregate(*call, expression.position, grouping);
    return;
  }
  for_each_child(expression, [&](const ast::Expression& child) { collect_aggregates(child, grouping); });
}

// An aggregate belongs to the innermost query whose columns it uses; without columns, to the query that contains it (null).
const NameScope* QueryBinder::find_outer_owner(const ast::Call& call, int64_t position, const NameScope& scope) const {
  if (scope.parent() == nullptr) return nullptr;
  ArgumentNames names;
  for (const ast::ExpressionPtr& argument : call.arguments) names.collect(*argument);
  if (call.filter) names.collect(*call.filter);
  for (const NameScope* owner = &scope; owner != nullptr; owner = owner->parent()) {
    bool uses = std::any_of(names.columns.begin(), names.columns.end(), [&](const ast::Expression* column) {
      return owner->find_here(std::get<ast::ColumnName>(column->node).parts, column->position) != nullptr;
    });
    if (!uses) continue;
    if (owner == &scope) return nullptr;
    if (names.has_subquery)
      refuse_at(fmt::format("a subquery inside {} is not supported here: its columns are those of an outer query", call.name), position);
    return owner;
  }
  return nullptr;
}

ExpressionPtr QueryBinder::bind_outer_aggregate(const ast::Call& call, int64_t position, const NameScope& owner) {
  auto level = std::find_if(levels_.rbegin(), levels_.rend(), [&](const SelectLevel& other) { return other.scope == &owner; });
  std::string_view place = level == levels_.rend() ? "in the FROM clause" : level->no_aggregate;
  if (level == levels_.rend() || level->grouping == nullptr)
    refuse_at(
        fmt::format("the aggregate {} belongs to the outer query whose columns it uses, and there it cannot stand {}", call.name, place),
        position);
  Grouping& grouping = *level->grouping;
  bind_aggregate(call, position, grouping);
  return columns_.reference(grouping.by_node.at(&call), position);
}

// The select list with each * expanded, as positions in GROUP BY count it.
std::vector<QueryBinder::ListedColumn> QueryBinder::list_columns(const Grouping& grouping) const {
  std::vector<ListedColumn> listed;
  for (const ast::SelectItem* item : *grouping.items) {
    const auto* star = std::get_if<ast::Star>(&item->expression->node);
    if (star == nullptr) {
      listed.push_back({.item = item});
      continue;
    }
    std::optional<std::string> of_table;
    if (!star->qualifier.empty()) {
      of_table = grouping.scope->find_table(star->qualifier.back(), item->expression->position);
      if (!of_table) refuse_at(fmt::format("there is no table {} in FROM", star->qualifier.back()), item->expression->position);
    }
    for (const ScopeColumn& column : grouping.scope->columns()) {
      bool is_given = column.unsupported.empty() && (of_table ? column.table == *of_table : !column.needs_table);
      if (is_given) listed.push_back({.column = &column});
    }
  }
  return listed;
}

// The item of the select list with this alias, or null. An exact match wins. Several items with the same expression are not ambiguous.
const ast::SelectItem* QueryBinder::find_alias(const Grouping& grouping, const std::string& alias, int64_t position) const {
  auto only = [&](const auto& matches) {
    const ast::SelectItem* found = nullptr;
    for (const ast::SelectItem* item : *grouping.items) {
      if (!matches(item->alias)) continue;
      if (found != nullptr && to_text(*found->expression) != to_text(*item->expression))
        refuse_at(fmt::format("GROUP BY {} is ambiguous", alias), position);
      found = item;
    }
    return found;
  };
  const ast::SelectItem* exact = only([&](const std::string& other) { return other == alias; });
  if (exact != nullptr || !may_be_unquoted(alias)) return exact;
  return only([&](const std::string& other) { return matches_without_case(alias, other); });
}

void QueryBinder::bind_groups(const ast::Select& select, Grouping& grouping) {
  std::vector<ListedColumn> listed;  // filled by the first position
  ExpressionPlace place{.scope = grouping.scope, .input = grouping.input, .no_aggregate = "in GROUP BY", .is_group = true};
  PlanColumns given(*grouping.input);
  for (const ast::ExpressionPtr& item : select.group_by) {
    const ast::Expression* expression = item.get();
    const ScopeColumn* of_star = nullptr;
    if (const auto* literal = std::get_if<ast::Literal>(&item->node); literal != nullptr && literal->kind == ast::Literal::Kind::Number) {
      size_t place_in_list = 0;
      const std::string& text = literal->text;
      auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), place_in_list);
      if (listed.empty()) listed = list_columns(grouping);
      if (status != std::errc() || end != text.data() + text.size() || place_in_list < 1 || place_in_list > listed.size())
        refuse_at(fmt::format("GROUP BY {}: the select list has {} columns", text, listed.size()), item->position);
      of_star = listed[place_in_list - 1].column;
      if (of_star == nullptr) expression = listed[place_in_list - 1].item->expression.get();
    } else if (const auto* name = std::get_if<ast::ColumnName>(&item->node); name != nullptr && name->parts.size() == 1) {
      // A column of the tables takes precedence over an alias of the select list.
      if (grouping.scope->find_here(name->parts, item->position) == nullptr) {
        const ast::SelectItem* aliased = find_alias(grouping, name->parts[0], item->position);
        if (aliased != nullptr) expression = aliased->expression.get();
      }
    }
    ExpressionPtr bound = of_star != nullptr ? columns_.reference(of_star->id, item->position) : bind_expression(*expression, place);
    if (bound->is_untyped()) bound = coerce(std::move(bound), TypeKind::Varchar);
    auto known = grouping.by_group.find(bound.get());
    if (known != grouping.by_group.end()) {
      grouping.by_item.emplace(expression, known->second);
      continue;
    }
    bool is_column = bound->kind() == ExpressionKind::Column && given.columns().contains(bound->column_id());
    ColumnId id = is_column ? bound->column_id() : columns_.add("group", bound->type());
    grouping.by_item.emplace(expression, id);
    grouping.by_group.emplace(bound.get(), id);
    grouping.groups.push_back({id, std::move(bound)});
  }
}

// Replaces group expressions by columns of the aggregate; other columns of the tables are then an error.
ExpressionPtr QueryBinder::after_grouping(ExpressionPtr expression, const Grouping& grouping) const {
  auto group = grouping.by_group.find(expression.get());
  if (group != grouping.by_group.end()) return columns_.reference(group->second, expression->position());
  if (expression->kind() == ExpressionKind::Column) {
    if (const ScopeColumn* column = grouping.scope->find_id(expression->column_id()))
      refuse_at(fmt::format("column {} must be in GROUP BY or inside an aggregate", column->name), expression->position());
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
