// generate_series and range in FROM: numbers are put together from digits, which are cross products of short lists, so that rows are made
// where they are consumed and long series need no memory.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "binder/query_binder.h"
#include "expr/expression_evaluator.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// Of each digit; a series has at most this to the power of the digits.
constexpr int64_t kBase = 1000;
constexpr int64_t kMaxRows = 1'000'000'000'000;

ExpressionPtr series_number(int64_t value) {
  return Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, value));
}

// Number of values from `first` in steps; `includes_last`: generate_series.
int64_t count_of_series(int64_t first, int64_t last, int64_t step, bool includes_last) {
  const __int128 distance = step > 0 ? static_cast<__int128>(last) - first : static_cast<__int128>(first) - last;
  const __int128 width = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  if (distance < 0 || (distance == 0 && !includes_last)) return 0;
  const __int128 count = includes_last ? distance / width + 1 : (distance + width - 1) / width;
  return static_cast<int64_t>(std::min<__int128>(count, kMaxRows + 1));
}

}  // namespace

bool QueryBinder::is_series(const std::string& name) {
  return name == "generate_series" || name == "range";
}

BoundFrom QueryBinder::bind_series(const ast::TableFunction& function, const std::string& alias, int64_t position) {
  const bool includes_last = function.name == "generate_series";
  const size_t count = function.arguments.size();
  if (count < (includes_last ? 2 : 1) || count > 3)
    refuse_at(
        includes_last ? "generate_series takes first, last and perhaps a step" : "range takes an end, or first, end and perhaps a step",
        position);
  std::vector<int64_t> numbers;
  for (const ast::ExpressionPtr& argument : function.arguments) {
    const ScalarValue value = bind_constant(*argument, options_.token);
    if (!value.is_null && !is_integer(value.type)) refuse_at(fmt::format("{} takes whole numbers", function.name), argument->position);
    // With a NULL there are no rows.
    if (value.is_null) return series_rows(0, 1, 0, function.name, alias);
    numbers.push_back(static_cast<int64_t>(value.integer));
  }
  const int64_t first = count == 1 ? 0 : numbers[0];
  const int64_t last = count == 1 ? numbers[0] : numbers[1];
  const int64_t step = count == 3 ? numbers[2] : 1;
  if (step == 0) refuse_at(fmt::format("the step of {} must not be 0", function.name), position);
  const int64_t rows = count_of_series(first, last, step, includes_last);
  if (rows > kMaxRows) refuse_at(fmt::format("{} has more than {} rows", function.name, kMaxRows), position);
  return series_rows(first, step, rows, function.name, alias);
}

BoundFrom QueryBinder::series_rows(int64_t first, int64_t step, int64_t rows, const std::string& name, const std::string& alias) {
  // The most significant digit first; it has only the values that are needed.
  std::vector<int64_t> weights = {1};
  while (weights.back() * kBase < rows) weights.push_back(weights.back() * kBase);
  LogicalPtr plan;
  ExpressionPtr number;
  for (size_t i = weights.size(); i-- > 0;) {
    const int64_t values = i + 1 == weights.size() ? (rows + weights[i] - 1) / weights[i] : kBase;
    LogicalValues digits;
    digits.columns.push_back(columns_.add("digit", TypeKind::BigInt));
    for (int64_t value = 0; value < values; ++value) digits.rows.push_back({ScalarValue::of_integer(TypeKind::BigInt, value * weights[i])});
    ExpressionPtr digit = columns_.reference(digits.columns[0]);
    number = number ? make_call("+", {std::move(number), std::move(digit)}) : std::move(digit);
    LogicalPtr node = make_node(std::move(digits));
    plan = plan ? make_node(LogicalJoin{.kind = JoinKind::Inner}, std::move(plan), std::move(node)) : std::move(node);
  }
  if (weights.size() > 1) plan = make_node(LogicalFilter{{make_call("<", {number, series_number(rows)})}}, std::move(plan));
  ExpressionPtr value = make_call("+", {series_number(first), make_call("*", {std::move(number), series_number(step)})});
  const bool is_named_by_alias = !alias.empty() && name == "generate_series";
  const std::string column = is_named_by_alias ? alias : name;
  const ColumnId id = columns_.add(column, TypeKind::BigInt);
  LogicalProject project;
  project.columns.push_back({id, std::move(value)});
  return {make_node(std::move(project), std::move(plan)), {ScopeColumn{alias.empty() ? name : alias, column, id}}};
}

}  // namespace pistachio
