// What all kinds of queries share: WITH around a body, LIMIT, the ORDER BY of results without a SELECT of their own.
#include "binder/query_binder.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "binder/aggregate_owners.h"
#include "binder/common_tables.h"
#include "expr/type_rules.h"

namespace pistachio {

QueryBinder::QueryBinder(TableResolver& tables, BindOptions options)
    : tables_(tables),
      options_(std::move(options)),
      common_tables_(std::make_unique<CommonTables>(*this)),
      owners_(std::make_unique<AggregateOwners>(*this)) {}

QueryBinder::~QueryBinder() = default;

std::optional<size_t> QueryBinder::ordinal_of(const ast::Expression& expression) {
  const auto* literal = std::get_if<ast::Literal>(&expression.node);
  if (literal == nullptr || literal->kind != ast::Literal::Kind::Number) return std::nullopt;
  size_t number = 0;
  auto [end, status] = std::from_chars(literal->text.data(), literal->text.data() + literal->text.size(), number);
  if (status != std::errc() || end != literal->text.data() + literal->text.size()) return 0;
  return number;
}

bool QueryBinder::is_nulls_first(const ast::OrderItem& item) {
  // NULLs sort as greater than every value.
  if (item.nulls == ast::OrderItem::Nulls::Default) return item.descending;
  return item.nulls == ast::OrderItem::Nulls::First;
}

LogicalPtr QueryBinder::project(LogicalPtr plan, std::vector<NamedExpression> columns) const {
  return make_node(LogicalProject{std::move(columns)}, std::move(plan));
}

// An input column that is passed on keeps its id the first time. A column of an outer query gets a new one.
NamedExpression QueryBinder::name_expression(ExpressionPtr expression, const std::string& name, const ColumnSet& input, ColumnSet& taken) {
  if (expression->is_untyped()) expression = coerce(std::move(expression), TypeKind::Varchar);
  bool keeps =
      expression->kind() == ExpressionKind::Column && input.contains(expression->column_id()) && !taken.contains(expression->column_id());
  ColumnId id = keeps ? expression->column_id() : columns_.add(name, expression->type());
  taken.insert(id);
  return {id, std::move(expression)};
}

void QueryBinder::refuse_changed_star(const ast::Star& star, int64_t position) {
  const bool is_changed =
      star.is_columns || !star.excluded.empty() || !star.replaced.empty() || !star.renamed.empty() || !star.qualifier.empty();
  if (is_changed) refuse_at("ORDER BY takes ALL or *, but not a part of the columns", position);
}

BoundQuery QueryBinder::bind_query(const ast::Query& query, const NameScope* outer) {
  if (open_queries_ >= kMaxNestedQueries) {
    refuse_at(fmt::format("queries are nested more than {} deep; keep parts of the statement with CREATE TABLE AS", kMaxNestedQueries),
              query.position);
  }
  ++open_queries_;
  size_t visible = common_tables_->visible();
  common_tables_->bind(query, outer);
  struct Visitor {
    QueryBinder& binder;
    const ast::Query& query;
    const NameScope* outer;
    BoundQuery operator()(const ast::Select& select) { return binder.bind_select(query, select, outer); }
    BoundQuery operator()(const ast::Values& values) { return binder.bind_values(query, values, outer); }
    BoundQuery operator()(const ast::SetOperation& operation) { return binder.bind_set_operation(query, operation, outer); }
  };
  BoundQuery bound = std::visit(Visitor{*this, query, outer}, query.body);
  common_tables_->hide_after(visible);
  --open_queries_;
  return bound;
}

// ORDER BY of set operations and VALUES, which can only refer to output columns.
void QueryBinder::order_output(const ast::Query& query, BoundQuery& bound) {
  if (query.order_by.empty()) return;
  NameScope scope;
  std::vector<ScopeColumn> named;
  for (const OutputColumn& column : bound.output) named.push_back({"", column.name, column.id});
  scope.set_columns(std::move(named));
  LogicalSort sort;
  for (const ast::OrderItem& item : query.order_by) {
    if (const auto* all = std::get_if<ast::Star>(&item.expression->node)) {
      refuse_changed_star(*all, item.expression->position);
      for (const OutputColumn& column : bound.output)
        sort.keys.push_back({columns_.reference(column.id), item.descending, is_nulls_first(item)});
      continue;
    }
    ExpressionPtr key;
    if (std::optional<size_t> place = ordinal_of(*item.expression)) {
      if (*place < 1 || *place > bound.output.size())
        refuse_at(fmt::format("ORDER BY {}: there are {} columns", *place, bound.output.size()), item.expression->position);
      key = columns_.reference(bound.output[*place - 1].id);
    } else {
      key = bind_expression(*item.expression,
                            {.scope = &scope, .no_subquery = "in this ORDER BY", .no_aggregate = "in the ORDER BY of a set operation"});
    }
    sort.keys.push_back({std::move(key), item.descending, is_nulls_first(item)});
  }
  bound.plan = make_node(std::move(sort), std::move(bound.plan));
}

LogicalPlan QueryBinder::bind(const ast::Query& query) {
  // More values than columns: reported elsewhere.
  const auto* values = std::get_if<ast::Values>(&query.body);
  if (values != nullptr && !values->rows.empty() && values->rows[0].size() <= options_.inserted.size()) inserted_values_ = values;
  BoundQuery bound = bind_query(query, nullptr);
  LogicalPlan plan;
  plan.root = std::move(bound.plan);
  plan.output = std::move(bound.output);
  plan.left_out = std::move(bound.left_out);
  plan.columns = std::move(columns_);
  plan.shared = std::move(shared_);
  return plan;
}

LogicalPlan bind_query(const ast::Query& query, TableResolver& tables, const BindOptions& options) {
  return QueryBinder(tables, options).bind(query);
}

}  // namespace pistachio
