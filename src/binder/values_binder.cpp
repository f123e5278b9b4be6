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

class QueryBinder::ValuesBinding {
 public:
  ValuesBinding(QueryBinder& binder, const ast::Values& values, int64_t position, const NameScope* outer)
      : binder_(binder),
        values_(values),
        position_(position),
        is_inserted_(&values == binder.inserted_values_),
        width_(values.rows.empty() ? 0 : values.rows[0].size()),
        scope_(outer) {}

  BoundQuery bind() {
    bind_rows();
    for (size_t i = 0; i < width_; ++i) choose_type(i);
    for (size_t row = 0; row < rows_.size(); ++row) add_row(row);
    Piece all = unite(pieces_);
    BoundQuery bound;
    bound.plan = std::move(all.plan);
    for (size_t i = 0; i < width_; ++i) {
      bound.output.push_back({all.columns[i], binder_.columns_.name(all.columns[i])});
      if (are_untyped_[i]) bound.note_untyped(all.columns[i], are_null_[i]);
    }
    return bound;
  }

 private:
  using Piece = SetOperand;

  void bind_rows() {
    LogicalPtr input = one_row();
    ExpressionPlace place{.scope = &scope_, .input = &input, .no_aggregate = "in VALUES"};
    for (const std::vector<ast::ExpressionPtr>& row : values_.rows) {
      if (row.size() != width_) refuse_at(fmt::format("VALUES has rows of {} and {} values", width_, row.size()), position_);
      Row& bound = rows_.emplace_back();
      for (const ast::ExpressionPtr& value : row) bound.push_back(binder_.bind_expression(*value, place));
      bool is_constant = input->as<LogicalValues>() != nullptr && !uses_columns(bound);
      inputs_.push_back(is_constant ? nullptr : std::exchange(input, one_row()));
    }
  }

  void choose_type(size_t column) {
    Row values;
    for (const Row& row : rows_) values.push_back(row[column]);
    auto all = [&](auto test) { return std::all_of(values.begin(), values.end(), test); };
    are_untyped_.push_back(!is_inserted_ && all([](const ExpressionPtr& value) { return value->is_untyped(); }));
    are_null_.push_back(all([](const ExpressionPtr& value) { return value->is_null_constant(); }));
    if (is_inserted_) {
      types_.push_back(binder_.options_.inserted[column]);
      check_insertion(values, types_.back());
    } else {
      types_.push_back(common_type_of(values, "a column of VALUES", position_));
    }
  }

  static void check_insertion(const Row& values, LogicalType type) {
    for (const ExpressionPtr& value : values) {
      if (!value->is_untyped() && !can_cast(value->type(), type))
        refuse_at(fmt::format("{} cannot be inserted into a column of {}", value->type().to_string(), type.to_string()), value->position());
    }
  }

  Piece& add_piece() {
    Piece& piece = pieces_.emplace_back();
    for (size_t i = 0; i < width_; ++i) piece.columns.push_back(binder_.columns_.add(fmt::format("column{}", i + 1), types_[i]));
    return piece;
  }

  void add_row(size_t row) {
    for (size_t i = 0; i < width_; ++i) rows_[row][i] = coerce(std::move(rows_[row][i]), types_[i]);
    if (inputs_[row]) {
      Piece& piece = add_piece();
      std::vector<NamedExpression> columns;
      for (size_t i = 0; i < width_; ++i) columns.push_back({piece.columns[i], std::move(rows_[row][i])});
      piece.plan = binder_.project(std::move(inputs_[row]), std::move(columns));
      return;
    }
    if (pieces_.empty() || pieces_.back().plan->as<LogicalValues>() == nullptr) {
      Piece& piece = add_piece();
      piece.plan = make_node(LogicalValues{piece.columns, {}});
    }
    std::vector<ScalarValue>& cells = pieces_.back().plan->as<LogicalValues>()->rows.emplace_back();
    for (const ExpressionPtr& value : rows_[row]) cells.push_back(evaluate_constant(value, binder_.options_.token));
  }

  // Combined as a balanced tree.
  Piece unite(std::span<Piece> pieces) {
    if (pieces.size() == 1) return std::move(pieces[0]);
    const size_t half = pieces.size() / 2;
    Piece left = unite(pieces.first(half));
    return binder_.combine_two(LogicalSetOperation::Kind::Union, true, std::move(left), unite(pieces.subspan(half)));
  }

  QueryBinder& binder_;
  const ast::Values& values_;
  const int64_t position_;
  const bool is_inserted_;
  const size_t width_;
  const NameScope scope_;
  std::vector<Row> rows_;
  std::vector<LogicalPtr> inputs_;  // of non-constant rows; null for constants
  std::vector<LogicalType> types_;  // by column, like the next two
  std::vector<bool> are_untyped_;
  std::vector<bool> are_null_;
  std::vector<Piece> pieces_;
};

BoundQuery QueryBinder::bind_values(const ast::Query& query, const ast::Values& values, const NameScope* outer) {
  BoundQuery bound = ValuesBinding(*this, values, query.position, outer).bind();
  order_output(query, bound);
  limit_output(query, bound);
  return bound;
}

}  // namespace pistachio
