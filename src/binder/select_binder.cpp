#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "expr/expression_evaluator.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// PostgreSQL's default name of a column without an alias.
std::string default_name(const ast::Expression& expression) {
  if (const auto* column = std::get_if<ast::ColumnName>(&expression.node)) return column->parts.back();
  if (const auto* call = std::get_if<ast::Call>(&expression.node)) return call->name;
  if (const auto* cast = std::get_if<ast::Cast>(&expression.node)) {
    std::string inner = default_name(*cast->operand);
    return inner == "?column?" ? cast->type.name : inner;
  }
  if (std::holds_alternative<ast::Case>(expression.node)) return "case";
  if (const auto* subquery = std::get_if<ast::Subquery>(&expression.node)) {
    if (subquery->kind == ast::Subquery::Kind::Exists) return "exists";
    if (subquery->kind == ast::Subquery::Kind::Scalar) {
      if (const auto* select = std::get_if<ast::Select>(&subquery->query->body)) {
        if (select->items.size() == 1 && !select->items[0].alias.empty()) return select->items[0].alias;
        if (select->items.size() == 1) return default_name(*select->items[0].expression);
      }
    }
  }
  return "?column?";
}

bool default_nulls_first(const ast::OrderItem& item) {
  // NULLs sort as greater than every value.
  if (item.nulls == ast::OrderItem::Nulls::Default) return item.descending;
  return item.nulls == ast::OrderItem::Nulls::First;
}

// Output columns by case-folded name, in order. Built by the first lookup, since few queries need it.
class OutputNames {
 public:
  explicit OutputNames(const std::vector<OutputColumn>& output) : output_(output) {}
  const std::vector<const OutputColumn*>& find(const std::string& name) {
    if (by_name_.empty()) {
      for (const OutputColumn& column : output_) by_name_[fold_name(column.name)].push_back(&column);
    }
    return by_name_[fold_name(name)];
  }

 private:
  const std::vector<OutputColumn>& output_;
  std::unordered_map<std::string, std::vector<const OutputColumn*>> by_name_;
};

std::optional<size_t> ordinal_of(const ast::Expression& expression) {
  const auto* literal = std::get_if<ast::Literal>(&expression.node);
  if (literal == nullptr || literal->kind != ast::Literal::Kind::Number) return std::nullopt;
  size_t number = 0;
  auto [end, status] = std::from_chars(literal->text.data(), literal->text.data() + literal->text.size(), number);
  if (status != std::errc() || end != literal->text.data() + literal->text.size()) return 0;
  return number;
}

}  // namespace

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

BoundQuery QueryBinder::bind_query(const ast::Query& query, const NameScope* outer) {
  if (open_queries_ >= kMostNestedQueries) {
    refuse_at(fmt::format("queries are nested more than {} deep; keep parts of the statement with CREATE TABLE AS", kMostNestedQueries),
              query.position);
  }
  ++open_queries_;
  size_t visible = common_tables_.size();
  bind_common_tables(query, outer);
  struct Visitor {
    QueryBinder& binder;
    const ast::Query& query;
    const NameScope* outer;
    BoundQuery operator()(const ast::Select& select) { return binder.bind_select(query, select, outer); }
    BoundQuery operator()(const ast::Values& values) { return binder.bind_values(query, values, outer); }
    BoundQuery operator()(const ast::SetOperation& operation) { return binder.bind_set_operation(query, operation, outer); }
  };
  BoundQuery bound = std::visit(Visitor{*this, query, outer}, query.body);
  common_tables_.resize(visible);
  --open_queries_;
  return bound;
}

std::optional<int64_t> QueryBinder::bind_row_count(const ast::ExpressionPtr& expression, std::string_view clause) {
  if (!expression) return std::nullopt;
  NameScope empty;
  ExpressionPlace place{.scope = &empty, .no_subquery = "in LIMIT or OFFSET", .no_aggregate = "in LIMIT or OFFSET"};
  ExpressionPtr bound = bind_expression(*expression, place);
  if (!bound->is_untyped() && !is_exact_number(bound->type()))
    refuse_at(fmt::format("{} needs a whole number", clause), expression->position);
  ScalarValue value = evaluate_constant(coerce(std::move(bound), TypeKind::BigInt), options_.token);
  if (value.is_null) return std::nullopt;
  if (value.integer < 0) refuse_at(fmt::format("{} must not be negative", clause), expression->position);
  return static_cast<int64_t>(value.integer);
}

void QueryBinder::limit_output(const ast::Query& query, BoundQuery& bound) {
  std::optional<int64_t> limit = bind_row_count(query.limit, "LIMIT");
  std::optional<int64_t> offset = bind_row_count(query.offset, "OFFSET");
  if (!limit && offset.value_or(0) == 0) return;
  bound.plan = make_node(LogicalLimit{limit, offset.value_or(0)}, std::move(bound.plan));
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
    ExpressionPtr key;
    if (std::optional<size_t> place = ordinal_of(*item.expression)) {
      if (*place < 1 || *place > bound.output.size())
        refuse_at(fmt::format("ORDER BY {}: there are {} columns", *place, bound.output.size()), item.expression->position);
      key = columns_.reference(bound.output[*place - 1].id);
    } else {
      key = bind_expression(*item.expression,
                            {.scope = &scope, .no_subquery = "in this ORDER BY", .no_aggregate = "in the ORDER BY of a set operation"});
    }
    sort.keys.push_back({std::move(key), item.descending, default_nulls_first(item)});
  }
  bound.plan = make_node(std::move(sort), std::move(bound.plan));
}

BoundQuery QueryBinder::bind_select(const ast::Query& query, const ast::Select& select, const NameScope* outer) {
  size_t shared_around = shared_.size();
  BoundFrom from = bind_from(select.from, outer);
  NameScope scope(outer);
  scope.set_columns(from.columns);
  levels_.push_back({.scope = &scope, .no_aggregate = "in WHERE"});
  LogicalPtr plan = std::move(from.plan);

  if (select.where) {
    ExpressionPlace place{.scope = &scope, .input = &plan, .no_aggregate = "in WHERE: use HAVING"};
    bind_filter(*select.where, place, "WHERE");
  }

  bool is_distinct = select.distinct && select.distinct_on.empty();
  std::vector<const ast::SelectItem*> items;
  for (const ast::SelectItem& item : select.items) items.push_back(&item);
  Grouping grouping{.scope = &scope, .input = &plan, .items = &items};
  levels_.back().no_aggregate = "in GROUP BY";
  bind_groups(select, grouping);
  levels_.back().no_aggregate = "inside another aggregate";
  for (const ast::SelectItem& item : select.items) collect_aggregates(*item.expression, grouping);
  if (select.having) collect_aggregates(*select.having, grouping);
  for (const ast::OrderItem& item : query.order_by) collect_aggregates(*item.expression, grouping);
  for (const ast::ExpressionPtr& item : select.distinct_on) collect_aggregates(*item, grouping);
  grouping.is_grouped = !select.group_by.empty() || select.group_by_nothing || !grouping.calls.empty() || select.having != nullptr ||
                        grouped_by_subqueries_.contains(&select);

  if (grouping.is_grouped) {
    // Group expressions are computed below the aggregate, so that it groups by columns.
    auto is_computed = [](const NamedExpression& group) {
      return group.expression->kind() != ExpressionKind::Column || group.expression->column_id() != group.id;
    };
    if (std::any_of(grouping.groups.begin(), grouping.groups.end(), is_computed)) {
      std::vector<NamedExpression> columns;
      for (ColumnId id : output_columns(*plan)) columns.push_back({id, columns_.reference(id)});
      for (const NamedExpression& group : grouping.groups) {
        if (is_computed(group)) columns.push_back(group);
      }
      plan = project(std::move(plan), std::move(columns));
    }
    LogicalAggregate aggregate;
    for (const NamedExpression& group : grouping.groups) aggregate.groups.push_back(group.id);
    aggregate.calls = grouping.calls;
    plan = make_node(std::move(aggregate), std::move(plan));
    grouping.aggregate = plan->as<LogicalAggregate>();
    grouping.input = &plan->children[0];
  }
  levels_.back().grouping = &grouping;

  ExpressionPlace place{.scope = &scope, .input = &plan, .aggregates = &grouping.by_node, .no_aggregate = "here"};
  if (grouping.is_grouped) place.regroup = [&](ExpressionPtr value) { return after_grouping(std::move(value), grouping); };
  auto bind_item = [&](const ast::Expression& expression) {
    // Not bound again: a subquery in it would be joined twice, the second time above the grouping.
    auto grouped = grouping.by_item.find(&expression);
    if (grouped != grouping.by_item.end()) return columns_.reference(grouped->second, expression.position);
    ExpressionPtr bound = bind_expression(expression, place);
    return grouping.is_grouped ? after_grouping(std::move(bound), grouping) : bound;
  };
  if (select.having) bind_filter(*select.having, place, "HAVING");

  BoundQuery bound;
  std::vector<NamedExpression> columns;
  // A column of an outer query that is passed on gets a new id, else the join of the two would contain it twice.
  ColumnSet taken;
  for (const NameScope* around = outer; around != nullptr; around = around->parent()) {
    for (const ScopeColumn& column : around->columns()) taken.insert(column.id);
  }
  PlanColumns given(plan);
  for (const ast::SelectItem& item : select.items) {
    if (const auto* star = std::get_if<ast::Star>(&item.expression->node)) {
      std::optional<std::string> of_table;
      if (!star->qualifier.empty()) {
        of_table = scope.find_table(star->qualifier.back(), item.expression->position);
        if (!of_table) refuse_at(fmt::format("there is no table {} in FROM", star->qualifier.back()), item.expression->position);
      }
      if (star->qualifier.empty() && scope.columns().empty()) refuse_at("SELECT * needs a FROM", item.expression->position);
      for (const ScopeColumn& column : scope.columns()) {
        bool wanted = of_table ? column.table == *of_table : !column.needs_table;
        if (!wanted) continue;
        if (!column.unsupported.empty()) {
          bound.left_out.push_back({column.name, column.unsupported, bound.output.size()});
          continue;
        }
        ExpressionPtr value = columns_.reference(column.id, item.expression->position);
        if (grouping.is_grouped) value = after_grouping(std::move(value), grouping);
        columns.push_back(name_expression(std::move(value), column.name, given.columns(), taken));
        bound.output.push_back({columns.back().id, column.name});
      }
      continue;
    }
    std::string name = item.alias.empty() ? default_name(*item.expression) : item.alias;
    ExpressionPtr value = bind_item(*item.expression);
    bool is_untyped = value->is_untyped();
    columns.push_back(name_expression(std::move(value), name, given.columns(), taken));
    bound.output.push_back({columns.back().id, name});
    if (is_untyped) bound.note_untyped(columns.back().id, columns.back().expression->is_null_constant());
  }

  // Operands of ORDER BY and DISTINCT ON: an output column by position or name, else an expression, which may become a hidden column.
  size_t visible = columns.size();
  OutputNames names(bound.output);
  std::unordered_map<const Expression*, ColumnId, HashExpression, SameExpression> by_expression;
  if (!query.order_by.empty() || !select.distinct_on.empty()) {
    for (const NamedExpression& column : columns) by_expression.emplace(column.expression.get(), column.id);
  }
  auto bind_key = [&](const ast::Expression& item, std::string_view clause) {
    std::optional<ColumnId> key;
    if (std::optional<size_t> ordinal = ordinal_of(item)) {
      if (*ordinal < 1 || *ordinal > visible)
        refuse_at(fmt::format("{} {}: there are {} columns", clause, *ordinal, visible), item.position);
      key = bound.output[*ordinal - 1].id;
    } else if (const auto* name = std::get_if<ast::ColumnName>(&item.node); name != nullptr && name->parts.size() == 1) {
      // An output column takes precedence over a column of the tables.
      for (const OutputColumn* column : names.find(name->parts[0])) {
        if (column->name != name->parts[0]) continue;
        if (key && *key != column->id) refuse_at(fmt::format("{} {} is ambiguous", clause, column->name), item.position);
        key = column->id;
      }
      if (!key && may_be_unquoted(name->parts[0]) && scope.find_exact(name->parts, item.position) == nullptr) {
        for (const OutputColumn* column : names.find(name->parts[0])) {
          if (key && *key != column->id)
            refuse_at(fmt::format("{} {} is ambiguous: write the name in quotes", clause, name->parts[0]), item.position);
          key = column->id;
        }
      }
    }
    if (key) return *key;
    ExpressionPtr expression = bind_item(item);
    auto known = by_expression.find(expression.get());
    if (known != by_expression.end()) return known->second;
    if (is_distinct) refuse_at("with DISTINCT, ORDER BY can use columns of the select list only", item.position);
    columns.push_back(name_expression(std::move(expression), "order", given.columns(), taken));
    by_expression.emplace(columns.back().expression.get(), columns.back().id);
    return columns.back().id;
  };
  LogicalLimit first_of_each{.limit = 1};
  for (const ast::ExpressionPtr& item : select.distinct_on) first_of_each.groups.push_back(bind_key(*item, "DISTINCT ON"));
  LogicalSort sort;
  for (const ast::OrderItem& item : query.order_by) {
    ColumnId key = bind_key(*item.expression, "ORDER BY");
    sort.keys.push_back({columns_.reference(key), item.descending, default_nulls_first(item)});
  }

  levels_.pop_back();
  // Only now it is known that an aggregate in a subquery belongs to this query: bind it again, as an aggregation.
  if (!grouping.is_grouped && !grouping.calls.empty()) {
    grouped_by_subqueries_.insert(&select);
    shared_.resize(shared_around);
    return bind_select(query, select, outer);
  }

  bool has_hidden = columns.size() > visible;
  plan = project(std::move(plan), std::move(columns));
  if (is_distinct) {
    LogicalAggregate distinct;
    for (const OutputColumn& column : bound.output) distinct.groups.push_back(column.id);
    plan = make_node(std::move(distinct), std::move(plan));
  }
  if (!first_of_each.groups.empty()) {
    first_of_each.keys = sort.keys;
    plan = make_node(std::move(first_of_each), std::move(plan));
  }
  if (!sort.keys.empty()) plan = make_node(std::move(sort), std::move(plan));
  bound.plan = std::move(plan);
  limit_output(query, bound);
  if (has_hidden) {
    std::vector<NamedExpression> shown;
    for (const OutputColumn& column : bound.output) shown.push_back({column.id, columns_.reference(column.id)});
    bound.plan = project(std::move(bound.plan), std::move(shown));
  }
  return bound;
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
