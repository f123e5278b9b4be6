// LIMIT, OFFSET and FETCH. Constants become a plan node. Numbers that only the run knows, from a subquery, and WITH TIES compare the number
// or the rank of each row instead.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "binder/query_binder.h"
#include "binder/syntax_walk.h"
#include "expr/expression_evaluator.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

bool has_subquery(const ast::Expression& expression) {
  if (std::holds_alternative<ast::Subquery>(expression.node)) return true;
  bool found = false;
  for_each_child(expression, [&](const ast::Expression& child) { found = found || has_subquery(child); });
  return found;
}

bool is_computed_count(const ast::ExpressionPtr& expression) {
  return expression != nullptr && has_subquery(*expression);
}

ExpressionPtr whole_number(int64_t value) {
  return Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, value));
}

// An error that is raised when a row is compared with a negative number.
ExpressionPtr refuse_negative(ExpressionPtr count, std::string_view clause, int64_t position) {
  ExpressionPtr text =
      Expression::constant(ScalarValue::of_text(TypeKind::Varchar, fmt::format("{} must not be negative", clause)), position);
  ExpressionPtr error = coerce(make_call("error", {std::move(text)}, position), TypeKind::BigInt);
  ExpressionPtr is_negative = make_call("<", {count, whole_number(0)}, position);
  return Expression::conditional(ExpressionKind::Case, {std::move(is_negative), std::move(error), std::move(count)}, TypeKind::BigInt,
                                 position);
}

}  // namespace

class QueryBinder::LimitBinding {
 public:
  LimitBinding(QueryBinder& binder, const ast::Query& query) : binder_(binder), query_(query) {}
  void limit(BoundQuery& bound);

 private:
  std::optional<int64_t> bind_count(const ast::ExpressionPtr& expression, std::string_view clause);
  ExpressionPtr bind_computed_count(const ast::ExpressionPtr& expression, int64_t otherwise, std::string_view clause, LogicalPtr& plan);
  void limit_by_number(BoundQuery& bound);

  QueryBinder& binder_;
  const ast::Query& query_;
};

void QueryBinder::limit_output(const ast::Query& query, BoundQuery& bound) {
  LimitBinding(*this, query).limit(bound);
}

std::optional<int64_t> QueryBinder::LimitBinding::bind_count(const ast::ExpressionPtr& expression, std::string_view clause) {
  if (!expression) return std::nullopt;
  NameScope empty;
  ExpressionPlace place{.scope = &empty, .no_subquery = "in LIMIT or OFFSET", .no_aggregate = "in LIMIT or OFFSET"};
  ExpressionPtr bound = binder_.bind_expression(*expression, place);
  if (!bound->is_untyped() && !is_exact_number(bound->type()))
    refuse_at(fmt::format("{} needs a whole number", clause), expression->position);
  ScalarValue value = evaluate_constant(coerce(std::move(bound), TypeKind::BigInt), binder_.options_.token);
  if (value.is_null) return std::nullopt;
  if (value.integer < 0) refuse_at(fmt::format("{} must not be negative", clause), expression->position);
  return static_cast<int64_t>(value.integer);
}

void QueryBinder::LimitBinding::limit(BoundQuery& bound) {
  if (query_.with_ties || is_computed_count(query_.limit) || is_computed_count(query_.offset)) return limit_by_number(bound);
  std::optional<int64_t> limit = bind_count(query_.limit, "LIMIT");
  std::optional<int64_t> offset = bind_count(query_.offset, "OFFSET");
  if (!limit && offset.value_or(0) == 0) return;
  bound.plan = make_node(LogicalLimit{limit, offset.value_or(0)}, std::move(bound.plan));
}

// A BIGINT; a missing count and NULL are `otherwise`. Subqueries are joined to the plan.
ExpressionPtr QueryBinder::LimitBinding::bind_computed_count(const ast::ExpressionPtr& expression, int64_t otherwise,
                                                             std::string_view clause, LogicalPtr& plan) {
  if (!is_computed_count(expression)) return whole_number(bind_count(expression, clause).value_or(otherwise));
  NameScope empty;
  ExpressionPtr bound = binder_.bind_expression(*expression, {.scope = &empty, .input = &plan, .no_aggregate = "in LIMIT or OFFSET"});
  if (!bound->is_untyped() && !is_exact_number(bound->type()))
    refuse_at(fmt::format("{} needs a whole number", clause), expression->position);
  ExpressionPtr count = coerce(std::move(bound), TypeKind::BigInt);
  count = Expression::conditional(ExpressionKind::Coalesce, {std::move(count), whole_number(otherwise)}, TypeKind::BigInt);
  return refuse_negative(std::move(count), clause, expression->position);
}

// Numbers the rows in their order: OFFSET skips by row number, LIMIT by row number too, or, WITH TIES, by rank.
void QueryBinder::LimitBinding::limit_by_number(BoundQuery& bound) {
  LogicalProject outputs;
  for (ColumnId column : output_columns(*bound.plan)) outputs.columns.push_back({column, binder_.columns_.reference(column)});
  LogicalSort sort;
  LogicalPtr plan = std::move(bound.plan);
  if (auto* sorted = plan->as<LogicalSort>()) {
    sort = std::move(*sorted);
    LogicalPtr unsorted = std::move(plan->children[0]);
    plan = std::move(unsorted);
  }
  LogicalWindow window{.partition = {}, .order = sort.keys, .calls = {}};
  auto add_call = [&](WindowKind kind, std::string name) {
    WindowCall call;
    call.id = binder_.columns_.add(std::move(name), TypeKind::BigInt);
    call.kind = kind;
    call.order_keys = sort.keys.size();
    window.calls.push_back(call);
    return binder_.columns_.reference(call.id);
  };
  const ExpressionPtr number = add_call(WindowKind::RowNumber, "row_number");
  const ExpressionPtr limited = query_.with_ties ? add_call(WindowKind::Rank, "rank") : number;
  plan = make_node(std::move(window), std::move(plan));
  const ExpressionPtr limit = bind_computed_count(query_.limit, std::numeric_limits<int64_t>::max(), "LIMIT", plan);
  const ExpressionPtr offset = bind_computed_count(query_.offset, 0, "OFFSET", plan);
  LogicalFilter filter;
  filter.conditions.push_back(make_call(">", {number, offset}));
  filter.conditions.push_back(make_call("<=", {make_call("-", {limited, offset}), limit}));
  plan = make_node(std::move(filter), std::move(plan));
  if (!sort.keys.empty()) plan = make_node(std::move(sort), std::move(plan));
  bound.plan = make_node(std::move(outputs), std::move(plan));
}

}  // namespace pistachio
