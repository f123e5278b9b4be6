// VALUES. Rows of constants become one plan node. A row that refers to outer columns or contains a subquery becomes a SELECT without FROM;
// the pieces are combined by UNION ALL.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "binder/query_binder.h"
#include "expr/cast.h"
#include "expr/expression_evaluator.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

using Row = std::vector<ExpressionPtr>;

// The input of a SELECT without FROM.
LogicalPtr one_row() {
  return make_node(LogicalValues{{}, {{}}});
}

bool uses_columns(const Row& row) {
  return std::any_of(row.begin(), row.end(), [](const ExpressionPtr& value) { return !columns_of(*value).empty(); });
}

}  // namespace

// Combined as a balanced tree.
QueryBinder::ValuesPiece QueryBinder::unite_values(std::span<ValuesPiece> pieces) {
  if (pieces.size() == 1) return std::move(pieces[0]);
  ValuesPiece left = unite_values(pieces.first(pieces.size() / 2));
  ValuesPiece right = unite_values(pieces.subspan(pieces.size() / 2));
  LogicalSetOperation node{.kind = LogicalSetOperation::Kind::Union, .all = true};
  for (ColumnId column : left.columns) node.columns.push_back(columns_.add(columns_.name(column), columns_.type(column)));
  node.left_columns = std::move(left.columns);
  node.right_columns = std::move(right.columns);
  ValuesPiece united{.plan = nullptr, .columns = node.columns};
  united.plan = make_node(std::move(node), std::move(left.plan), std::move(right.plan));
  return united;
}

LogicalType QueryBinder::type_of_values(const std::vector<ExpressionPtr>& column, std::optional<LogicalType> inserted,
                                        int64_t position) const {
  if (!inserted) return common_type_of(column, "a column of VALUES", position);
  for (const ExpressionPtr& value : column) {
    if (!value->is_untyped() && !can_cast(value->type(), *inserted))
      refuse_at(fmt::format("{} cannot be inserted into a column of {}", value->type().to_string(), inserted->to_string()),
                value->position());
  }
  return *inserted;
}

BoundQuery QueryBinder::bind_values(const ast::Query& query, const ast::Values& values, const NameScope* outer) {
  size_t width = values.rows.empty() ? 0 : values.rows[0].size();
  NameScope scope(outer);
  std::vector<Row> rows;
  std::vector<LogicalPtr> inputs;  // of non-constant rows; null for constants
  LogicalPtr input = one_row();
  ExpressionPlace place{.scope = &scope, .input = &input, .no_aggregate = "in VALUES"};
  for (const std::vector<ast::ExpressionPtr>& row : values.rows) {
    if (row.size() != width) refuse_at(fmt::format("VALUES has rows of {} and {} values", width, row.size()), query.position);
    Row& bound = rows.emplace_back();
    for (const ast::ExpressionPtr& value : row) bound.push_back(bind_expression(*value, place));
    bool is_constant = input->as<LogicalValues>() != nullptr && !uses_columns(bound);
    inputs.push_back(is_constant ? nullptr : std::exchange(input, one_row()));
  }

  std::vector<LogicalType> types;
  std::vector<bool> are_untyped;
  std::vector<bool> are_null;
  for (size_t i = 0; i < width; ++i) {
    Row column;
    for (const Row& row : rows) column.push_back(row[i]);
    bool is_inserted = &values == inserted_values_;
    types.push_back(type_of_values(column, is_inserted ? std::optional(options_.inserted[i]) : std::nullopt, query.position));
    are_untyped.push_back(!is_inserted &&
                          std::all_of(column.begin(), column.end(), [](const ExpressionPtr& value) { return value->is_untyped(); }));
    are_null.push_back(std::all_of(column.begin(), column.end(), [](const ExpressionPtr& value) { return value->is_null_constant(); }));
  }
  std::vector<ValuesPiece> pieces;
  auto add_piece = [&] {
    ValuesPiece& piece = pieces.emplace_back();
    for (size_t i = 0; i < width; ++i) piece.columns.push_back(columns_.add(fmt::format("column{}", i + 1), types[i]));
    return piece.columns;
  };
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < width; ++i) rows[row][i] = coerce(std::move(rows[row][i]), types[i]);
    if (inputs[row]) {
      std::vector<ColumnId> ids = add_piece();
      std::vector<NamedExpression> columns;
      for (size_t i = 0; i < width; ++i) columns.push_back({ids[i], std::move(rows[row][i])});
      pieces.back().plan = project(std::move(inputs[row]), std::move(columns));
      continue;
    }
    LogicalValues* constants = pieces.empty() ? nullptr : pieces.back().plan->as<LogicalValues>();
    if (constants == nullptr) {
      std::vector<ColumnId> ids = add_piece();
      pieces.back().plan = make_node(LogicalValues{std::move(ids), {}});
      constants = pieces.back().plan->as<LogicalValues>();
    }
    std::vector<ScalarValue>& cells = constants->rows.emplace_back();
    for (const ExpressionPtr& value : rows[row]) cells.push_back(evaluate_constant(value, options_.token));
  }

  ValuesPiece all = unite_values(pieces);
  BoundQuery bound;
  bound.plan = std::move(all.plan);
  for (size_t i = 0; i < width; ++i) {
    bound.output.push_back({all.columns[i], columns_.name(all.columns[i])});
    if (are_untyped[i]) bound.note_untyped(all.columns[i], are_null[i]);
  }
  order_output(query, bound);
  limit_output(query, bound);
  return bound;
}

}  // namespace pistachio
