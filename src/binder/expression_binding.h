// The expressions of one place (a clause of a SELECT, an ON clause) while they are bound. Implemented in expression_binder.cpp,
// row_comparison_binder.cpp and subquery_binder.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

class QueryBinder::ExpressionBinding {
 public:
  // Both outlive it.
  ExpressionBinding(QueryBinder& binder, const ExpressionPlace& place) : binder_(binder), place_(place) {}

  ExpressionPtr bind(const ast::Expression& expression);
  // Must be BOOLEAN; else the error names the clause.
  ExpressionPtr bind_condition(const ast::Expression& expression, std::string_view clause);

 private:
  ExpressionPtr bind_column(const ast::ColumnName& node, int64_t position);
  ExpressionPtr bind_operator(const ast::Operator& node, int64_t position);
  ExpressionPtr bind_logical(const ast::Logical& node, int64_t position);
  ExpressionPtr bind_test(const ast::Test& node, int64_t position);
  ExpressionPtr bind_between(const ast::Between& node, int64_t position);
  ExpressionPtr bind_in_list(const ast::InList& node, int64_t position);
  ExpressionPtr bind_call(const ast::Call& node, int64_t position);
  ExpressionPtr bind_window_call(const ast::Call& node, int64_t position);
  // group_by_binder.cpp
  ExpressionPtr bind_grouping_call(const ast::Call& call, int64_t position);
  ExpressionPtr bind_choice(const ast::Call& node, const std::vector<ExpressionPtr>& arguments, int64_t position);
  ExpressionPtr bind_try_cast(const ast::Cast& node, int64_t position);
  ExpressionPtr bind_cast(const ast::Cast& node, int64_t position);
  ExpressionPtr bind_case(const ast::Case& node, int64_t position);

  // Rows of values.
  ExpressionPtr bind_row_comparison(const ast::Row& left, const std::string& name, const ast::Row& right, int64_t position);
  ExpressionPtr bind_row_test(const ast::Row& row, std::string_view name, int64_t position);

  // Subqueries are joined to `input`.
  ExpressionPtr bind_subquery(const ast::Subquery& node, int64_t position);
  ExpressionPtr bind_scalar_subquery(BoundQuery bound, int64_t position, LogicalPtr& input);
  ExpressionPtr bind_mark(LogicalPtr right, std::vector<ExpressionPtr> conditions, int64_t position, LogicalPtr& input);
  ExpressionPtr bind_long_in_list(ExpressionPtr operand, const std::vector<ExpressionPtr>& list, int64_t position, LogicalPtr& input);

  QueryBinder& binder_;
  const ExpressionPlace& place_;
};

}  // namespace pistachio
