// Binds one statement. QueryBinder owns what is known about the whole statement and leads to the nested classes that bind its parts, one
// file each: SelectBinding, FromBinding, GroupBinding, SetOperationBinding, ValuesBinding, LimitBinding, WindowBinding, StarExpansion and
// ExpressionBinding. CommonTables and AggregateOwners know what spans queries. query_binder.cpp has what all queries share.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stop_if_cancelled.h"
#include "binder/bind.h"
#include "binder/name_scope.h"

namespace pistachio {

// A bound query: its plan and its named output columns.
struct BoundQuery {
  LogicalPtr plan;
  std::vector<OutputColumn> output;
  // Output columns that are just a text literal or NULL. They are VARCHAR, but in a set operation they take the other side's type.
  ColumnSet untyped_texts;
  ColumnSet untyped_nulls;
  std::vector<OmittedColumn> left_out;

  bool is_untyped(ColumnId id) const { return untyped_texts.contains(id) || untyped_nulls.contains(id); }
  void note_untyped(ColumnId id, bool is_null) { (is_null ? untyped_nulls : untyped_texts).insert(id); }
};

// An operand of a set operation: its plan and its columns in the order of the result.
struct SetOperand {
  LogicalPtr plan;
  std::vector<ColumnId> columns;
};

struct BoundFrom {
  LogicalPtr plan;
  std::vector<ScopeColumn> columns;
};

// The columns of the preceding tables in FROM, which are visible to LATERAL.
struct TablesBefore {
  const std::vector<ScopeColumn>* columns = nullptr;
  const TablesBefore* around = nullptr;  // tables before the enclosing join
};

// The inputs of an outer join while its ON clause is bound. A subquery there cannot be joined above the outer join, where unmatched rows
// are already padded with NULLs: it is joined to the input it refers to, below the outer join.
struct OuterJoinSides {
  LogicalPtr* left = nullptr;
  LogicalPtr* right = nullptr;
  // The side whose unmatched rows are dropped. It may be re-evaluated for each row of the other side, so that subqueries that refer to both
  // sides can be joined to it. Null for FULL JOIN, which has none.
  LogicalPtr* optional = nullptr;

  bool uses_both(const ColumnSet& columns) const;
  LogicalPtr* side_of(const ColumnSet& columns) const;
};

// Caches the output columns of a plan until a node is added on top, as subqueries in expressions do.
class PlanColumns {
 public:
  explicit PlanColumns(const LogicalPtr& plan) : plan_(plan) {}
  const ColumnSet& columns() {
    if (std::exchange(given_by_, plan_.get()) != plan_.get()) given_ = output_set(*plan_);
    return given_;
  }

 private:
  const LogicalPtr& plan_;
  const LogicalNode* given_by_ = nullptr;
  ColumnSet given_;
};

// A column of the select list, after * and COLUMNS are expanded: an item, or a column of the tables.
struct ListedColumn {
  const ast::SelectItem* item = nullptr;
  const ScopeColumn* column = nullptr;
  std::string name;  // of the column in the result
  int64_t position = -1;
};

struct Grouping;

// The context of an expression.
struct ExpressionPlace {
  const NameScope* scope = nullptr;
  // The plan whose rows it is evaluated on. Subqueries are joined to it. If null, to one of the `sides`; without those, subqueries are
  // rejected, with `no_subquery` in the error.
  LogicalPtr* input = nullptr;
  const OuterJoinSides* sides = nullptr;
  std::string_view no_subquery = "here";
  // Aggregate calls that are already bound; if null, aggregates are rejected, with `no_aggregate` in the error.
  const std::map<const ast::Call*, ColumnId>* aggregates = nullptr;
  std::string_view no_aggregate = "here";
  // Window calls that are already bound; if null, window functions are rejected, with `no_window` in the error, or `no_aggregate`.
  const std::map<const ast::Call*, ColumnId>* windows = nullptr;
  std::string_view no_window = "";
  // The select list's item behind a name that is no column of the tables; null if there is none.
  std::function<const ast::Expression*(const ast::ColumnName&, int64_t position)> alias;
  // Above GROUP BY: maps group expressions to columns of the aggregate and rejects other columns. Also applied to operands of subqueries,
  // which become part of joins. Empty without grouping.
  std::function<ExpressionPtr(ExpressionPtr)> regroup;
  // The bound column of the select list behind a name, of those before the one that is being bound; null if there is none.
  std::function<ExpressionPtr(const ast::ColumnName&, int64_t position)> earlier_column;
  // Above GROUP BY: what grouping(...) refers to; null elsewhere.
  const Grouping* grouping = nullptr;
  // In GROUP BY a long IN list stays an expression: as a join it would not match the same expression in the select list.
  bool is_group = false;

  // The plan that a subquery using these columns is joined to; null if there is none.
  LogicalPtr* input_for(const ColumnSet& columns) const { return sides != nullptr ? sides->side_of(columns) : input; }
};

// Walks over plans recurse as deep as queries are nested.
constexpr size_t kMaxNestedQueries = 500;

class QueryBinder {
 public:
  explicit QueryBinder(TableResolver& tables, BindOptions options = {});
  ~QueryBinder();
  QueryBinder(const QueryBinder&) = delete;
  QueryBinder& operator=(const QueryBinder&) = delete;

  LogicalPlan bind(const ast::Query& query);
  ExpressionPtr bind_expression(const ast::Expression& expression, const ExpressionPlace& place);

 private:
  // Queries (query_binder.cpp), SELECT (select_binder.cpp).
  class SelectBinding;
  BoundQuery bind_query(const ast::Query& query, const NameScope* outer);
  BoundQuery bind_select(const ast::Query& query, const ast::Select& select, const NameScope* outer);
  void order_output(const ast::Query& query, BoundQuery& bound);
  // row_limit_binder.cpp
  class LimitBinding;
  void limit_output(const ast::Query& query, BoundQuery& bound);
  // The position that a whole-number operand of ORDER BY or DISTINCT ON names; 0 if it is none that a list can have.
  static std::optional<size_t> ordinal_of(const ast::Expression& expression);
  static bool is_nulls_first(const ast::OrderItem& item);
  static void refuse_changed_star(const ast::Star& star, int64_t position);
  LogicalPtr project(LogicalPtr plan, std::vector<NamedExpression> columns) const;
  NamedExpression name_expression(ExpressionPtr expression, const std::string& name, const ColumnSet& input, ColumnSet& taken);

  // * and COLUMNS (star_binder.cpp).
  class StarExpansion;
  std::vector<ListedColumn> expand_list(const ast::Select& select, const NameScope& scope, std::vector<OmittedColumn>& left_out);
  // The expression for each column that COLUMNS stands for; the expression itself if there is no COLUMNS in it.
  std::vector<const ast::Expression*> expand_columns(const ast::Expression& expression, const NameScope& scope);
  std::vector<ast::ExpressionPtr> copy_for_columns(const ast::Expression& expression, const NameScope& scope);

  // UNION, INTERSECT, EXCEPT (set_operation_binder.cpp).
  class SetOperationBinding;
  SetOperand combine_two(LogicalSetOperation::Kind kind, bool all, SetOperand left, SetOperand right);
  BoundQuery bind_set_operation(const ast::Query& query, const ast::SetOperation& operation, const NameScope* outer);

  // VALUES (values_binder.cpp).
  class ValuesBinding;
  BoundQuery bind_values(const ast::Query& query, const ast::Values& values, const NameScope* outer);

  // FROM (from_clause_binder.cpp).
  class FromBinding;
  BoundFrom bind_from(const std::vector<ast::TableReferencePtr>& tables, const NameScope* outer);
  BoundFrom from_query(BoundQuery bound, const std::string& alias);
  void add_left_out(const std::vector<OmittedColumn>& left_out, const std::string& alias, BoundFrom& from);

  // generate_series, range (series_binder.cpp).
  static bool is_series(const std::string& name);
  BoundFrom bind_series(const ast::TableFunction& function, const std::string& alias, int64_t position);
  BoundFrom series_rows(int64_t first, int64_t step, int64_t rows, const std::string& name, const std::string& alias);

  // WITH (common_tables.h).
  class CommonTables;

  // Aggregates (aggregate_binder.cpp).
  class AggregateOwners;
  // Binds the aggregate calls of this query level. Those inside subqueries are handled when the subqueries are bound.
  void collect_aggregates(const ast::Expression& expression, Grouping& grouping);
  // `scope`: where the call is written, which may be inside a subquery of the grouped query.
  void bind_aggregate(const ast::Call& call, int64_t position, const NameScope& scope, Grouping& grouping);
  // Without an id.
  AggregateCall bind_aggregate_call(const ast::Call& call, int64_t position, const ExpressionPlace& place);
  // Those of OrderedAggregate, and any_value with ORDER BY (ordered_aggregate_binder.cpp).
  AggregateCall bind_ordered_call(const ast::Call& call, int64_t position, const ExpressionPlace& place);

  // GROUP BY (group_by_binder.cpp).
  class GroupBinding;
  void bind_groups(const ast::Select& select, Grouping& grouping);

  // Window functions (window_binder.cpp).
  struct Windows;
  class WindowBinding;
  // Binds the window calls of this query level in an expression.
  void collect_windows(const ast::Expression& expression, const ExpressionPlace& place, Windows& windows);
  // The nodes that compute them, above `plan`.
  LogicalPtr add_windows(LogicalPtr plan, Windows& windows);

  // Expressions (expression_binding.h).
  class ExpressionBinding;
  ExpressionPtr bind_condition(const ast::Expression& expression, const ExpressionPlace& place, std::string_view clause);

  // WHERE, HAVING and ON of inner joins: filters `place.input` (filter_binder.cpp).
  void bind_filter(const ast::Expression& condition, const ExpressionPlace& place, std::string_view clause);

  TableResolver& tables_;
  BindOptions options_;
  ColumnRegistry columns_;
  std::vector<LogicalPtr> shared_;
  std::unique_ptr<CommonTables> common_tables_;
  std::unique_ptr<AggregateOwners> owners_;
  // What COLUMNS was expanded to. Other members refer to these nodes, so that they stay until the statement is bound.
  std::deque<ast::SelectItem> made_items_;
  std::vector<std::string> open_views_;  // views being bound: a view must not contain itself
  size_t bound_tables_ = 0;
  size_t open_queries_ = 0;  // nesting depth of the queries being bound
  bool view_is_named_ = false;  // the error already names the view it occurred in
  const ast::Values* inserted_values_ = nullptr;  // the VALUES that INSERT fills a table from
};

// Like common_type, but REAL and an exact number yield REAL, as in PostgreSQL: only operators yield DOUBLE.
std::optional<LogicalType> column_type(LogicalType left, LogicalType right);

// The type of values combined in one column: CASE branches, COALESCE, VALUES, set operations. Untyped literals take the others' type.
LogicalType common_type_of(const std::vector<ExpressionPtr>& expressions, std::string_view what, int64_t position);

// Compares two rows of values field by field, also by IS [NOT] DISTINCT FROM: the first unequal fields decide the order.
using FieldPair = std::pair<ExpressionPtr, ExpressionPtr>;
ExpressionPtr compare_rows(const std::vector<FieldPair>& pairs, std::string_view name, int64_t position);

[[noreturn]] void refuse_at(std::string text, int64_t position);

}  // namespace pistachio
