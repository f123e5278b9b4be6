// Comparisons, GREATEST and LEAST, and tests for NULL and truth. AND and OR are separate expression kinds (they skip rows); NOT is here.
#include <array>
#include <utility>

#include "columns/column_compare.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "expr/argument_access.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

std::optional<FunctionTypes> resolve_comparison(Types types, Literals literals) {
  if (types.size() != 2) return std::nullopt;
  // An untyped literal takes the type it is compared with; two of them are text.
  LogicalType left = literals[0] ? types[1] : types[0];
  LogicalType right = literals[1] ? left : types[1];
  std::optional<LogicalType> common = common_type(left, right);
  if (!common) return std::nullopt;
  return FunctionTypes{{*common, *common}, TypeKind::Boolean};
}

Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::Less: return Comparison::Greater;
    case Comparison::LessEqual: return Comparison::GreaterEqual;
    case Comparison::Greater: return Comparison::Less;
    case Comparison::GreaterEqual: return Comparison::LessEqual;
    default: return comparison;
  }
}

// Intervals compare by length, with months of 30 and days of 24 hours (PostgreSQL).
Column interval_length(const Column& column) {
  return Column::fixed(LogicalType::decimal(38, 0), interval_lengths(decode_dictionary(column).values()), column.validity());
}

Column comparable(const Column& column) {
  return column.type().kind() == TypeKind::Interval ? interval_length(column) : column;
}

template <Comparison comparison>
Column compare(const FunctionCall& call) {
  const Argument& left = call.arguments[0];
  const Argument& right = call.arguments[1];
  at::Tensor mask;
  bool is_interval = left.column.type().kind() == TypeKind::Interval;
  if (!is_interval && right.is_constant && !left.is_constant) {
    mask = compare_with_constant(left.column, comparison, right.constant());
  } else if (!is_interval && left.is_constant && !right.is_constant) {
    mask = compare_with_constant(right.column, mirrored(comparison), left.constant());
  } else {
    mask = compare_columns(comparable(left.expanded(call.rows)), comparison, comparable(right.expanded(call.rows)));
  }
  return Column::fixed(TypeKind::Boolean, std::move(mask));
}

template <bool same>
Column distinct(const FunctionCall& call) {
  at::Tensor mask = same_rows(comparable(call.arguments[0].expanded(call.rows)), comparable(call.arguments[1].expanded(call.rows)));
  return Column::fixed(TypeKind::Boolean, same ? mask : mask.logical_not());
}

std::optional<FunctionTypes> resolve_best(Types types, Literals literals) {
  std::optional<LogicalType> common;
  for (size_t i = 0; i < types.size(); ++i) {
    if (literals[i]) continue;
    common = common ? common_type(*common, types[i]) : types[i];
    if (!common) return std::nullopt;
  }
  if (types.empty()) return std::nullopt;
  LogicalType type = common.value_or(LogicalType(TypeKind::Varchar));
  return FunctionTypes{std::vector<LogicalType>(types.size(), type), type};
}

// GREATEST and LEAST ignore NULLs; the first of equal values wins. All arguments are concatenated once and the best value of each row is
// tracked as an index, so that the time is linear in the number of arguments for text, too.
template <Comparison keeps_first>
Column best_of(const FunctionCall& call) {
  std::vector<Column> pieces;
  for (const Argument& argument : call.arguments) pieces.push_back(argument.column);
  Column all = decode_dictionary(concatenate_columns(pieces));
  int64_t begin = 0;  // of the next argument in `all`
  auto take_argument = [&](const Argument& argument) {
    auto options = at::TensorOptions(at::kLong).device(all.device());
    int64_t first = std::exchange(begin, begin + argument.column.rows());
    return argument.is_constant ? at::full({call.rows}, first, options) : at::arange(first, first + call.rows, options);
  };
  at::Tensor rows = take_argument(call.arguments[0]);
  Column best = take_rows(all, rows);
  for (const Argument& argument : call.arguments.subspan(1)) {
    at::Tensor next_rows = take_argument(argument);
    Column next = take_rows(all, next_rows);
    at::Tensor keeps = compare_columns(comparable(best), keeps_first, comparable(next));
    if (best.has_validity()) keeps = keeps.logical_and(best.validity());
    if (next.has_validity()) keeps = keeps.logical_or(next.validity().logical_not());
    rows = at::where(keeps, rows, next_rows);
    best = take_rows(all, rows);
  }
  return best;
}

std::optional<FunctionTypes> resolve_anything(Types types, Literals) {
  if (types.size() != 1) return std::nullopt;
  return FunctionTypes{{types[0]}, TypeKind::Boolean};
}

std::optional<FunctionTypes> resolve_boolean(Types types, Literals literals) {
  if (types.size() != 1 || (!literals[0] && types[0].kind() != TypeKind::Boolean)) return std::nullopt;
  return FunctionTypes{{TypeKind::Boolean}, TypeKind::Boolean};
}

at::Tensor validity_of(const Column& column) {
  return column.has_validity() ? column.validity() : at::ones({column.rows()}, at::TensorOptions(at::kBool).device(column.device()));
}

template <bool null>
Column test_null(const FunctionCall& call) {
  at::Tensor valid = validity_of(call.arguments[0].expanded(call.rows));
  return Column::fixed(TypeKind::Boolean, null ? valid.logical_not() : valid);
}

// IS [NOT] TRUE, IS [NOT] FALSE: never NULL.
template <bool wanted, bool negated>
Column test_truth(const FunctionCall& call) {
  Column column = call.arguments[0].expanded(call.rows);
  at::Tensor mask = (wanted ? column.values() : column.values().logical_not()).logical_and(validity_of(column));
  return Column::fixed(TypeKind::Boolean, negated ? mask.logical_not() : mask);
}

Column negation(const FunctionCall& call) {
  return Column::fixed(TypeKind::Boolean, call.arguments[0].expanded(call.rows).values().logical_not());
}

constexpr Function comparison_of(std::string_view name, Column (*evaluate)(const FunctionCall&), std::string_view description) {
  return {.name = name,
          .resolve = resolve_comparison,
          .evaluate = evaluate,
          .place = FunctionPlace::AnyDevice,
          .signature = "a OP b",
          .description = description};
}

constexpr Function test_of(std::string_view name, std::optional<FunctionTypes> (*resolve)(Types, Literals),
                           Column (*evaluate)(const FunctionCall&)) {
  return {.name = name,
          .resolve = resolve,
          .evaluate = evaluate,
             .place = FunctionPlace::AnyDevice,
          .null_rule = NullRule::Own,
          .signature = "a IS [NOT] NULL | TRUE | FALSE",
          .description = "Test that is never NULL itself"};
}

const std::array kComparisonFunctions = {
    comparison_of("=", compare<Comparison::Equal>, "Equal"),
    comparison_of("<>", compare<Comparison::NotEqual>, "Not equal"),
    comparison_of("<", compare<Comparison::Less>, "Less; text by bytes, NaN above all numbers"),
    comparison_of("<=", compare<Comparison::LessEqual>, "Less or equal"),
    comparison_of(">", compare<Comparison::Greater>, "Greater"),
    comparison_of(">=", compare<Comparison::GreaterEqual>, "Greater or equal"),
    Function{.name = "is distinct from",
             .resolve = resolve_comparison,
             .evaluate = distinct<false>,
             .place = FunctionPlace::AnyDevice,
             .null_rule = NullRule::Own,
             .signature = "a IS DISTINCT FROM b",
             .description = "Not equal; NULL is compared like a value"},
    Function{.name = "is not distinct from",
             .resolve = resolve_comparison,
             .evaluate = distinct<true>,
             .place = FunctionPlace::AnyDevice,
             .null_rule = NullRule::Own,
             .signature = "a IS NOT DISTINCT FROM b",
             .description = "Equal; NULL is compared like a value"},
    test_of("is null", resolve_anything, test_null<true>),
    test_of("is not null", resolve_anything, test_null<false>),
    test_of("is unknown", resolve_boolean, test_null<true>),
    test_of("is not unknown", resolve_boolean, test_null<false>),
    test_of("is true", resolve_boolean, test_truth<true, false>),
    test_of("is not true", resolve_boolean, test_truth<true, true>),
    test_of("is false", resolve_boolean, test_truth<false, false>),
    test_of("is not false", resolve_boolean, test_truth<false, true>),
    Function{.name = "greatest",
             .resolve = resolve_best,
             .evaluate = best_of<Comparison::GreaterEqual>,
             .place = FunctionPlace::AnyDevice,
             .null_rule = NullRule::Own,
             .signature = "greatest(value, ...)",
             .description = "The greatest value, ignoring NULLs; NULL if all are"},
    Function{.name = "least",
             .resolve = resolve_best,
             .evaluate = best_of<Comparison::LessEqual>,
             .place = FunctionPlace::AnyDevice,
             .null_rule = NullRule::Own,
             .signature = "least(value, ...)",
             .description = "The least value, ignoring NULLs; NULL if all are"},
    Function{.name = "not",
             .resolve = resolve_boolean,
             .evaluate = negation,
             .place = FunctionPlace::AnyDevice,
             .signature = "NOT a",
             .description = "Negation"},
};

}  // namespace

std::span<const Function> comparison_functions() {
  return kComparisonFunctions;
}

}  // namespace pistachio
