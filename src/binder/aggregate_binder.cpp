// The aggregate calls of a SELECT: arguments, FILTER, equal calls once.
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "binder/aggregate_owners.h"
#include "binder/grouping.h"
#include "binder/syntax_walk.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

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

void QueryBinder::collect_aggregates(const ast::Expression& expression, Grouping& grouping) {
  const auto* call = std::get_if<ast::Call>(&expression.node);
  if (call != nullptr && find_aggregate(call->name) != nullptr && call->over == nullptr) {
    if (owners_->find_outer_owner(*call, *grouping.scope) == nullptr) bind_aggregate(*call, expression.position, *grouping.scope, grouping);
    return;
  }
  for_each_child(expression, [&](const ast::Expression& child) { collect_aggregates(child, grouping); });
}

}  // namespace pistachio
