// The aggregate functions as data: names, argument rules, result types. exec/operators/aggregate_state implements them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "expr/expression.h"

namespace pistachio {

enum class AggregateKind {
  CountRows,
  Count,
  Sum,
  Average,
  Min,
  Max,
  VarianceSample,
  VariancePopulation,
  StddevSample,
  StddevPopulation,
  BoolAnd,
  BoolOr,
  AnyValue,
  BitAnd,
  BitOr,
  BitXor,
  ApproxCountDistinct,
  CountIf,  // in calls count(*) FILTER
  Ordered   // see OrderedAggregate
};

// Aggregates that look at more than one value at a time: at their order, at a second argument, or at the mean of all. The optimizer rule
// lower_ordered_aggregates computes them with windows and plain aggregates.
enum class OrderedAggregate {
  None,
  First,
  Last,
  FirstValue,  // any_value with ORDER BY: skips NULLs
  ArgMin,
  ArgMax,
  ArgMinNull,
  ArgMaxNull,
  QuantileContinuous,
  QuantileDiscrete,
  Mode,
  Concatenate,
  GeometricMean,
  Skewness,
  Kurtosis,
  KurtosisPopulation,
  CovariancePopulation,
  CovarianceSample,
  Correlation,
  RegressionCount,
  RegressionAverageX,
  RegressionAverageY,
  RegressionSxx,
  RegressionSyy,
  RegressionSxy,
  RegressionSlope,
  RegressionIntercept,
  RegressionR2
};

struct AggregateFunction {
  std::string_view name;
  AggregateKind kind;
  // The type that the argument is cast to, and the result type; nullopt if the argument does not fit.
  std::optional<std::pair<LogicalType, LogicalType>> (*resolve)(LogicalType argument);
  std::string_view signature;
  std::string_view description;
  OrderedAggregate ordered = OrderedAggregate::None;
};

const AggregateFunction* find_aggregate(std::string_view name);
std::span<const AggregateFunction> all_aggregates();
const AggregateFunction& count_rows_aggregate();
// Whether the result without any row is 0; others are NULL.
bool is_count(const AggregateFunction& function);
// Whether DISTINCT makes no difference.
bool ignores_duplicates(const AggregateFunction& function);

// A key of ORDER BY inside a call.
struct AggregateOrder {
  ExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;
};

// A call: sum(DISTINCT x) FILTER (WHERE y).
struct AggregateCall {
  ColumnId id;  // of the result
  const AggregateFunction* function = nullptr;
  ExpressionPtr argument;  // null for count(*)
  bool distinct = false;
  ExpressionPtr filter;  // may be null
  LogicalType type = TypeKind::BigInt;
  // Only of ordered aggregates.
  std::vector<ExpressionPtr> further = {};  // the arguments behind the first
  std::vector<AggregateOrder> order = {};
};

void for_each_expression(AggregateCall& call, const std::function<void(ExpressionPtr&)>& visit);

}  // namespace pistachio
