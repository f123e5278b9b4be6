#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "binder/syntax_walk.h"
#include "expr/function_table.h"
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

// Whether it contains an aggregate or a window function of its own query, which GROUP BY ALL does not group by.
bool contains_aggregate(const ast::Expression& expression) {
  if (const auto* call = std::get_if<ast::Call>(&expression.node)) {
    if (call->over != nullptr || find_aggregate(call->name) != nullptr || is_grouping_call(*call)) return true;
  }
  bool found = false;
  for_each_child(expression, [&](const ast::Expression& child) { found = found || contains_aggregate(child); });
  return found;
}

// An INTEGER that is not negative.
constexpr size_t kMostGroupingBits = 31;

std::string group_name(const Expression& group, const ColumnRegistry& columns) {
  return group.kind() == ExpressionKind::Column ? columns.name(group.column_id()) : "group";
}

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
  const AggregateFunction* named = find_aggregate(call.name);
  const bool has_order = named->kind == AggregateKind::Ordered || (named->kind == AggregateKind::AnyValue && !call.order_by.empty());
  if (has_order) return bind_ordered_call(call, position, place);
  if (call.within_group) refuse_at(fmt::format("{} takes no WITHIN GROUP", call.name), position);
  auto bind_own = [&](const ast::Expression& expression) {
    ExpressionPtr bound = bind_expression(expression, place);
    return place.regroup ? place.regroup(std::move(bound)) : bound;
  };
  // The order makes no difference to the others; its names are checked.
  for (const ast::OrderItem& item : call.order_by) bind_own(*item.expression);
  AggregateCall bound;
  if (call.star) {
    if (call.name != "count") refuse_at(fmt::format("{}(*) does not exist; only count(*) does", call.name), position);
    bound.function = &count_rows_aggregate();
  } else {
    bound.function = named;
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
  const bool is_plain = bound.function->kind != AggregateKind::Ordered;
  size_t hash = std::hash<const void*>()(bound.function) + (bound.argument ? bound.argument->hash() : 0) +
                3 * (bound.filter ? bound.filter->hash() : 0);
  auto [first, last] = grouping.calls_by_hash.equal_range(hash);
  for (auto candidate = first; candidate != last; ++candidate) {
    const AggregateCall& other = grouping.calls[candidate->second];
    if (!is_plain || other.function != bound.function || other.distinct != bound.distinct || !same(other.argument, bound.argument) ||
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
  for (const ast::OrderItem& item : call.order_by) names.collect(*item.expression);
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

// The item of the select list with this alias, or null. An exact match wins. Several items with the same expression are not ambiguous.
const ast::SelectItem* QueryBinder::find_alias(const Grouping& grouping, const std::string& alias, std::string_view clause,
                                               int64_t position) const {
  auto only = [&](const auto& matches) {
    const ast::SelectItem* found = nullptr;
    for (const ListedColumn& listed : *grouping.list) {
      const ast::SelectItem* item = listed.item;
      if (item == nullptr || item->alias.empty() || !matches(item->alias)) continue;
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
  ExpressionPlace place{.scope = grouping.scope, .input = grouping.input, .no_aggregate = "in GROUP BY", .is_group = true};
  place.alias = [&](const ast::ColumnName& name, int64_t position) -> const ast::Expression* {
    return aliased_expression(grouping, name, "GROUP BY", position);
  };
  PlanColumns given(*grouping.input);
  if (select.group_by_all) {
    for (const ListedColumn& listed : *grouping.list) {
      if (listed.column != nullptr || !contains_aggregate(*listed.item->expression))
        bind_listed_group(select, listed, place, given, grouping);
    }
  }
  std::vector<ColumnId> ids;  // by place in group_by
  for (const ast::ExpressionPtr& item : select.group_by) {
    const std::optional<size_t> number = ordinal_of(*item);
    if (!number) {
      // A column of the tables takes precedence over an alias of the select list.
      const auto* name = std::get_if<ast::ColumnName>(&item->node);
      const ast::Expression* aliased = name == nullptr ? nullptr : aliased_expression(grouping, *name, "GROUP BY", item->position);
      const ast::Expression& expression = aliased != nullptr ? *aliased : *item;
      ids.push_back(add_group(select, &expression, bind_expression(expression, place), given, grouping));
      continue;
    }
    if (*number < 1 || *number > grouping.list->size()) {
      const std::string& text = std::get<ast::Literal>(item->node).text;
      refuse_at(fmt::format("GROUP BY {}: the select list has {} columns", text, grouping.list->size()), item->position);
    }
    ids.push_back(bind_listed_group(select, (*grouping.list)[*number - 1], place, given, grouping));
  }
  if (select.grouping_sets) add_grouping_sets(select, ids, grouping);
}

const ast::Expression* QueryBinder::aliased_expression(const Grouping& grouping, const ast::ColumnName& name, std::string_view clause,
                                                       int64_t position) const {
  if (name.parts.size() != 1 || grouping.scope->find_here(name.parts, position) != nullptr) return nullptr;
  const ast::SelectItem* item = find_alias(grouping, name.parts[0], clause, position);
  return item == nullptr ? nullptr : item->expression.get();
}

ColumnId QueryBinder::bind_listed_group(const ast::Select& select, const ListedColumn& listed, const ExpressionPlace& place,
                                        PlanColumns& given, Grouping& grouping) {
  if (listed.column == nullptr) {
    const ast::Expression& expression = *listed.item->expression;
    return add_group(select, &expression, bind_expression(expression, place), given, grouping);
  }
  ExpressionPtr column = columns_.reference(listed.column->id, listed.position);
  return add_group(select, nullptr, std::move(column), given, grouping);
}

// The column that the aggregate outputs for the group. `written`: the expression behind it; null for a column of *.
ColumnId QueryBinder::add_group(const ast::Select& select, const ast::Expression* written, ExpressionPtr bound, PlanColumns& given,
                                Grouping& grouping) {
  if (bound->is_untyped()) bound = coerce(std::move(bound), TypeKind::Varchar);
  auto known = grouping.by_group.find(bound.get());
  if (known != grouping.by_group.end()) {
    if (written != nullptr) grouping.by_item.emplace(written, known->second);
    return known->second;
  }
  // With grouping sets a group column can be NULL where the column of the table is not, so that it is another column.
  const bool is_column = bound->kind() == ExpressionKind::Column && given.columns().contains(bound->column_id()) && !select.grouping_sets;
  const ColumnId id = is_column ? bound->column_id() : columns_.add(group_name(*bound, columns_), bound->type());
  if (written != nullptr) grouping.by_item.emplace(written, id);
  grouping.by_group.emplace(bound.get(), id);
  grouping.groups.push_back({id, std::move(bound)});
  return id;
}

void QueryBinder::add_grouping_sets(const ast::Select& select, const std::vector<ColumnId>& ids, Grouping& grouping) {
  std::set<std::vector<ColumnId>> known;
  for (const std::vector<size_t>& places : *select.grouping_sets) {
    std::vector<ColumnId> set;
    for (size_t place : places) set.push_back(ids[place]);
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    if (!select.distinct_sets || known.insert(set).second) grouping.sets.push_back(std::move(set));
  }
  grouping.set_number = columns_.add("set", TypeKind::Integer);
}

// grouping(a, b): a bit for each argument, the last one the lowest: 1 if the row's grouping set does not group by it.
ExpressionPtr QueryBinder::bind_grouping_call(const ast::Call& call, int64_t position, const ExpressionPlace& place) {
  if (place.grouping == nullptr) refuse_at(fmt::format("{} needs GROUP BY and cannot be used here", call.name), position);
  if (call.arguments.empty() || call.arguments.size() > kMostGroupingBits)
    refuse_at(fmt::format("{} takes 1 to {} arguments", call.name, kMostGroupingBits), position);
  const Grouping& grouping = *place.grouping;
  std::vector<ColumnId> columns;
  for (const ast::ExpressionPtr& argument : call.arguments) {
    const ExpressionPtr bound = bind_expression(*argument, place);
    auto group = grouping.by_group.find(bound.get());
    if (group == grouping.by_group.end())
      refuse_at(fmt::format("the arguments of {} must be expressions of GROUP BY", call.name), argument->position);
    columns.push_back(group->second);
  }
  auto constant = [&](int64_t value) { return Expression::constant(ScalarValue::of_integer(TypeKind::Integer, value), position); };
  if (grouping.sets.empty()) return constant(0);
  std::vector<ExpressionPtr> children;
  for (size_t i = 0; i < grouping.sets.size(); ++i) {
    int64_t bits = 0;
    for (ColumnId column : columns)
      bits = 2 * bits + (std::binary_search(grouping.sets[i].begin(), grouping.sets[i].end(), column) ? 0 : 1);
    if (i + 1 < grouping.sets.size()) {
      children.push_back(make_call("=", {columns_.reference(grouping.set_number), constant(static_cast<int64_t>(i))}, position));
    }
    children.push_back(constant(bits));
  }
  if (children.size() == 1) return children[0];
  return Expression::conditional(ExpressionKind::Case, std::move(children), TypeKind::Integer, position);
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
