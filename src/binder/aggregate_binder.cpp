#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "binder/syntax_walk.h"
#include "expr/type_rules.h"
#include "parser/ast_text.h"

namespace pistachio {

namespace {

// The columns and subqueries in the argument and the filter of an aggregate.
struct ArgumentNames {
  std::vector<const ast::Expression*> columns;
  std::vector<const ast::Query*> subqueries;

  void collect(const ast::Expression& expression) {
    if (std::holds_alternative<ast::ColumnName>(expression.node)) columns.push_back(&expression);
    if (const auto* subquery = std::get_if<ast::Subquery>(&expression.node)) subqueries.push_back(subquery->query.get());
    for_each_child(expression, [&](const ast::Expression& child) { collect(child); });
  }

  bool uses(const NameScope& scope) const {
    return std::any_of(columns.begin(), columns.end(), [&](const ast::Expression* column) {
      return scope.find_here(std::get<ast::ColumnName>(column->node).parts, column->position) != nullptr;
    });
  }
};

const NameScope* enclosing_scope(const NameScope& scope, size_t levels) {
  const NameScope* found = &scope;
  for (size_t i = 0; i < levels; ++i) found = found->parent();
  return found;
}

// count_if(x) FILTER (WHERE y) is count(*) FILTER (WHERE y AND x). x is evaluated only where y is true.
void count_true_rows(AggregateCall& call) {
  const ExpressionPtr condition = std::exchange(call.argument, nullptr);
  call.function = &count_rows_aggregate();
  if (call.distinct) {
    call.function = find_aggregate("count");
    call.argument = condition;
  }
  if (!call.filter) {
    call.filter = condition;
    return;
  }
  const ExpressionPtr no = Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, 0));
  call.filter = Expression::conditional(ExpressionKind::Case, {call.filter, condition, no}, TypeKind::Boolean);
}

}  // namespace

AggregateCall QueryBinder::bind_aggregate_call(const ast::Call& call, int64_t position, const ExpressionPlace& place) {
  if (!call.order_by.empty()) refuse_at(fmt::format("ORDER BY inside {} is not supported", call.name), position);
  auto bind_own = [&](const ast::Expression& expression) {
    ExpressionPtr bound = bind_expression(expression, place);
    return place.regroup ? place.regroup(std::move(bound)) : bound;
  };
  AggregateCall bound;
  if (call.star) {
    if (call.name != "count") refuse_at(fmt::format("{}(*) does not exist; only count(*) does", call.name), position);
    bound.function = &count_rows_aggregate();
  } else {
    bound.function = find_aggregate(call.name);
    if (call.arguments.size() != 1) refuse_at(fmt::format("{} takes one argument", call.name), position);
    ExpressionPtr argument = bind_own(*call.arguments[0]);
    if (argument->is_untyped()) argument = coerce(std::move(argument), TypeKind::Varchar);
    auto types = bound.function->resolve(argument->type());
    if (!types) refuse_at(fmt::format("{} does not take {}", call.name, argument->type().to_string()), position);
    bound.argument = coerce(std::move(argument), types->first);
    bound.type = types->second;
    bound.distinct = call.distinct && !ignores_duplicates(*bound.function);
  }
  if (call.filter) {
    bound.filter = bind_condition(*call.filter, place, "FILTER");
    if (place.regroup) bound.filter = place.regroup(std::move(bound.filter));
  }
  if (bound.function->kind == AggregateKind::CountIf) count_true_rows(bound);
  return bound;
}

void QueryBinder::bind_aggregate(const ast::Call& call, int64_t position, const NameScope& scope, Grouping& grouping) {
  ExpressionPlace place{.scope = &scope, .input = grouping.input, .no_aggregate = "inside another aggregate", .no_window = "inside an aggregate"};
  AggregateCall bound = bind_aggregate_call(call, position, place);
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
  if (call != nullptr && find_aggregate(call->name) != nullptr && call->over == nullptr) {
    bool is_own = find_outer_owner(*call, *grouping.scope) == nullptr;
    if (is_own) bind_aggregate(*call, expression.position, *grouping.scope, grouping);
    return;
  }
  for_each_child(expression, [&](const ast::Expression& child) { collect_aggregates(child, grouping); });
}

bool QueryBinder::TrialBind::uses(const NameScope& scope) const {
  return aggregate_owners.contains(&scope) ||
         std::any_of(columns.begin(), columns.end(), [&](ColumnId column) { return scope.find_id(column) != nullptr; });
}

// Binds a query only to learn which names of enclosing queries it uses: the tables of its FROM must be known for that.
void QueryBinder::try_bind(const ast::Query& query, const NameScope& scope, TrialBind& trial) {
  trial.levels = levels_.size();
  TrialBind* around = std::exchange(trial_, &trial);
  size_t shared = shared_.size();
  size_t tables = bound_tables_;
  bind_query(query, &scope);
  bound_tables_ = tables;
  shared_.resize(shared);
  trial_ = around;
}

// An aggregate belongs to the innermost query whose columns it uses, also in subqueries of its argument; without columns, to the query that
// contains it (null).
const NameScope* QueryBinder::find_outer_owner(const ast::Call& call, const NameScope& scope) {
  if (scope.parent() == nullptr) return nullptr;
  ArgumentNames names;
  for (const ast::ExpressionPtr& argument : call.arguments) names.collect(*argument);
  if (call.filter) names.collect(*call.filter);
  if (names.uses(scope)) return nullptr;
  auto known = owner_levels_.find(&call);
  if (known != owner_levels_.end()) return known->second == 0 ? nullptr : enclosing_scope(scope, known->second);
  TrialBind trial;
  for (const ast::Query* subquery : names.subqueries) try_bind(*subquery, scope, trial);
  size_t levels = 0;
  const NameScope* owner = &scope;
  for (; owner != nullptr && !names.uses(*owner) && !trial.uses(*owner); owner = owner->parent()) ++levels;
  if (owner == nullptr || owner == &scope) levels = 0;
  // Without this, aggregates nested in subqueries of aggregates would double the number of trials at each level.
  if (!names.subqueries.empty()) owner_levels_.emplace(&call, levels);
  return levels == 0 ? nullptr : owner;
}

ExpressionPtr QueryBinder::bind_outer_aggregate(const ast::Call& call, int64_t position, const NameScope& scope, const NameScope& owner) {
  size_t found = levels_.size();
  while (found > 0 && levels_[found - 1].scope != &owner) --found;
  if (found > 0 && trial_ != nullptr && found <= trial_->levels) {
    trial_->aggregate_owners.insert(&owner);
    LogicalPtr scratch = make_node(LogicalValues{{}, {{}}});
    Grouping unused{.scope = &owner, .input = &scratch};
    bind_aggregate(call, position, scope, unused);
    return columns_.reference(unused.by_node.at(&call), position);
  }
  std::string_view place = found == 0 ? "in the FROM clause" : levels_[found - 1].no_aggregate;
  if (found == 0 || levels_[found - 1].grouping == nullptr)
    refuse_at(
        fmt::format("the aggregate {} belongs to the outer query whose columns it uses, and there it cannot be used {}", call.name, place),
        position);
  // Subqueries in the argument are joined below the grouping. Aggregates in them must not belong to the same query.
  SelectLevel level = levels_[found - 1];
  levels_[found - 1] = {.scope = &owner, .no_aggregate = "inside another aggregate"};
  bind_aggregate(call, position, scope, *level.grouping);
  levels_[found - 1] = level;
  return columns_.reference(level.grouping->by_node.at(&call), position);
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
const ast::SelectItem* QueryBinder::find_alias(const Grouping& grouping, const std::string& alias, std::string_view clause,
                                               int64_t position) const {
  auto only = [&](const auto& matches) {
    const ast::SelectItem* found = nullptr;
    for (const ast::SelectItem* item : *grouping.items) {
      if (!matches(item->alias)) continue;
      if (found != nullptr && to_text(*found->expression) != to_text(*item->expression))
        refuse_at(fmt::format("{} {} is ambiguous", clause, alias), position);
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
        const ast::SelectItem* aliased = find_alias(grouping, name->parts[0], "GROUP BY", item->position);
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
