#include "binder/aggregate_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "binder/grouping.h"
#include "binder/syntax_walk.h"

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

}  // namespace

bool QueryBinder::AggregateOwners::Trial::uses(const NameScope& scope) const {
  return aggregate_owners.contains(&scope) ||
         std::any_of(columns.begin(), columns.end(), [&](ColumnId column) { return scope.find_id(column) != nullptr; });
}

// Binds a query only to learn which names of enclosing queries it uses: the tables of its FROM must be known for that.
void QueryBinder::AggregateOwners::try_bind(const ast::Query& query, const NameScope& scope, Trial& trial) {
  trial.levels = levels_.size();
  Trial* around = std::exchange(trial_, &trial);
  size_t shared = binder_.shared_.size();
  size_t tables = binder_.bound_tables_;
  binder_.bind_query(query, &scope);
  binder_.bound_tables_ = tables;
  binder_.shared_.resize(shared);
  trial_ = around;
}

// An aggregate belongs to the innermost query whose columns it uses, also in subqueries of its argument; without columns, to the query that
// contains it (null).
const NameScope* QueryBinder::AggregateOwners::find_outer_owner(const ast::Call& call, const NameScope& scope) {
  if (scope.parent() == nullptr) return nullptr;
  ArgumentNames names;
  for (const ast::ExpressionPtr& argument : call.arguments) names.collect(*argument);
  if (call.filter) names.collect(*call.filter);
  for (const ast::OrderItem& item : call.order_by) names.collect(*item.expression);
  if (names.uses(scope)) return nullptr;
  auto known = owner_levels_.find(&call);
  if (known != owner_levels_.end()) return known->second == 0 ? nullptr : enclosing_scope(scope, known->second);
  Trial trial;
  for (const ast::Query* subquery : names.subqueries) try_bind(*subquery, scope, trial);
  size_t levels = 0;
  const NameScope* owner = &scope;
  for (; owner != nullptr && !names.uses(*owner) && !trial.uses(*owner); owner = owner->parent()) ++levels;
  if (owner == nullptr || owner == &scope) levels = 0;
  // Without this, aggregates nested in subqueries of aggregates would double the number of trials at each level.
  if (!names.subqueries.empty()) owner_levels_.emplace(&call, levels);
  return levels == 0 ? nullptr : owner;
}

ExpressionPtr QueryBinder::AggregateOwners::bind_outer_aggregate(const ast::Call& call, int64_t position, const NameScope& scope,
                                                                 const NameScope& owner) {
  size_t found = levels_.size();
  while (found > 0 && levels_[found - 1].scope != &owner) --found;
  if (found > 0 && trial_ != nullptr && found <= trial_->levels) {
    trial_->aggregate_owners.insert(&owner);
    LogicalPtr scratch = make_node(LogicalValues{{}, {{}}});
    Grouping unused{.scope = &owner, .input = &scratch};
    binder_.bind_aggregate(call, position, scope, unused);
    return binder_.columns_.reference(unused.by_node.at(&call), position);
  }
  std::string_view place = found == 0 ? "in the FROM clause" : levels_[found - 1].no_aggregate;
  if (found == 0 || levels_[found - 1].grouping == nullptr)
    refuse_at(
        fmt::format("the aggregate {} belongs to the outer query whose columns it uses, and there it cannot be used {}", call.name, place),
        position);
  // Subqueries in the argument are joined below the grouping. Aggregates in them must not belong to the same query.
  Level level = levels_[found - 1];
  levels_[found - 1] = {.scope = &owner, .no_aggregate = "inside another aggregate"};
  binder_.bind_aggregate(call, position, scope, *level.grouping);
  levels_[found - 1] = level;
  return binder_.columns_.reference(level.grouping->by_node.at(&call), position);
}

}  // namespace pistachio
