#include "expr/aggregate_function.h"

#include <array>

#include "expr/type_rules.h"

namespace pistachio {

namespace {

using Resolved = std::optional<std::pair<LogicalType, LogicalType>>;

Resolved resolve_count(LogicalType argument) {
  return std::pair(argument, LogicalType(TypeKind::BigInt));
}

// Sums are exact: BIGINT for small integers, 38 digits for others.
Resolved resolve_sum(LogicalType argument) {
  if (argument.kind() == TypeKind::BigInt) return std::pair(argument, LogicalType::decimal(38, 0));
  if (is_integer(argument)) return std::pair(argument, LogicalType(TypeKind::BigInt));
  if (argument.kind() == TypeKind::Decimal) return std::pair(argument, LogicalType::decimal(38, argument.scale()));
  if (argument.is_floating()) return std::pair(LogicalType(TypeKind::Double), LogicalType(TypeKind::Double));
  return std::nullopt;
}

Resolved resolve_average(LogicalType argument) {
  if (is_exact_number(argument)) return std::pair(argument, LogicalType(TypeKind::Double));
  if (argument.is_floating()) return std::pair(LogicalType(TypeKind::Double), LogicalType(TypeKind::Double));
  return std::nullopt;
}

Resolved resolve_integers(LogicalType argument) {
  if (!is_integer(argument)) return std::nullopt;
  return std::pair(argument, argument);
}

Resolved resolve_unchanged(LogicalType argument) {
  return std::pair(argument, argument);
}

Resolved resolve_moment(LogicalType argument) {
  if (!is_number(argument)) return std::nullopt;
  return std::pair(LogicalType(TypeKind::Double), LogicalType(TypeKind::Double));
}

Resolved resolve_boolean(LogicalType argument) {
  if (argument.kind() != TypeKind::Boolean) return std::nullopt;
  return std::pair(argument, argument);
}

Resolved resolve_condition(LogicalType argument) {
  if (argument.kind() != TypeKind::Boolean) return std::nullopt;
  return std::pair(argument, LogicalType(TypeKind::BigInt));
}

constexpr AggregateFunction kCountRows{"count", AggregateKind::CountRows, resolve_count, "count(*) -> BIGINT", "Number of rows"};

constexpr std::array kAggregates = {
    AggregateFunction{"count", AggregateKind::Count, resolve_count, "count(x) -> BIGINT", "Number of values that are not NULL"},
    AggregateFunction{"sum", AggregateKind::Sum, resolve_sum, "sum(number)",
                      "Sum; exact for integers and decimals; NULL if there are no values"},
    AggregateFunction{"avg", AggregateKind::Average, resolve_average, "avg(number) -> DOUBLE", "Mean"},
    AggregateFunction{"mean", AggregateKind::Average, resolve_average, "mean(number) -> DOUBLE", "Mean"},
    AggregateFunction{"min", AggregateKind::Min, resolve_unchanged, "min(x)", "Smallest value"},
    AggregateFunction{"max", AggregateKind::Max, resolve_unchanged, "max(x)", "Greatest value"},
    AggregateFunction{"variance", AggregateKind::VarianceSample, resolve_moment, "variance(number) -> DOUBLE", "Sample variance"},
    AggregateFunction{"var_samp", AggregateKind::VarianceSample, resolve_moment, "var_samp(number) -> DOUBLE", "Sample variance"},
    AggregateFunction{"var_pop", AggregateKind::VariancePopulation, resolve_moment, "var_pop(number) -> DOUBLE", "Population variance"},
    AggregateFunction{"stddev", AggregateKind::StddevSample, resolve_moment, "stddev(number) -> DOUBLE", "Sample standard deviation"},
    AggregateFunction{"stddev_samp", AggregateKind::StddevSample, resolve_moment, "stddev_samp(number) -> DOUBLE",
                      "Sample standard deviation"},
    AggregateFunction{"stddev_pop", AggregateKind::StddevPopulation, resolve_moment, "stddev_pop(number) -> DOUBLE",
                      "Population standard deviation"},
    AggregateFunction{"bool_and", AggregateKind::BoolAnd, resolve_boolean, "bool_and(boolean) -> BOOLEAN", "Whether all are true"},
    AggregateFunction{"every", AggregateKind::BoolAnd, resolve_boolean, "every(boolean) -> BOOLEAN", "Whether all are true"},
    AggregateFunction{"bool_or", AggregateKind::BoolOr, resolve_boolean, "bool_or(boolean) -> BOOLEAN", "Whether one is true"},
    AggregateFunction{"any_value", AggregateKind::AnyValue, resolve_unchanged, "any_value(x)",
                      "One of the values; which one is not defined"},
    AggregateFunction{"arbitrary", AggregateKind::AnyValue, resolve_unchanged, "arbitrary(x)",
                      "One of the values; which one is not defined"},
    AggregateFunction{"bit_and", AggregateKind::BitAnd, resolve_integers, "bit_and(integer)",
                      "Bitwise AND of all values; NULL if there are none"},
    AggregateFunction{"bit_or", AggregateKind::BitOr, resolve_integers, "bit_or(integer)",
                      "Bitwise OR of all values; NULL if there are none"},
    AggregateFunction{"bit_xor", AggregateKind::BitXor, resolve_integers, "bit_xor(integer)",
                      "Bitwise exclusive OR of all values; NULL if there are none"},
    AggregateFunction{"approx_count_distinct", AggregateKind::ApproxCountDistinct, resolve_count, "approx_count_distinct(x) -> BIGINT",
                      "Number of different values: exact up to 64, then estimated with a standard error of 1.6 %"},
    AggregateFunction{"count_if", AggregateKind::CountIf, resolve_condition, "count_if(boolean) -> BIGINT",
                      "Number of values that are true"},
    AggregateFunction{"first", AggregateKind::Ordered, resolve_unchanged, "first(x [ORDER BY key, ...])",
                      "Value of the first row, also NULL; without ORDER BY which row is first is not defined", OrderedAggregate::First},
    AggregateFunction{"last", AggregateKind::Ordered, resolve_unchanged, "last(x [ORDER BY key, ...])",
                      "Value of the last row, also NULL; without ORDER BY which row is last is not defined", OrderedAggregate::Last},
    AggregateFunction{"arg_min", AggregateKind::Ordered, resolve_unchanged, "arg_min(x, key)",
                      "Value of x in the row with the smallest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMin},
    AggregateFunction{"argmin", AggregateKind::Ordered, resolve_unchanged, "argmin(x, key)",
                      "Value of x in the row with the smallest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMin},
    AggregateFunction{"min_by", AggregateKind::Ordered, resolve_unchanged, "min_by(x, key)",
                      "Value of x in the row with the smallest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMin},
    AggregateFunction{"arg_max", AggregateKind::Ordered, resolve_unchanged, "arg_max(x, key)",
                      "Value of x in the row with the greatest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMax},
    AggregateFunction{"argmax", AggregateKind::Ordered, resolve_unchanged, "argmax(x, key)",
                      "Value of x in the row with the greatest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMax},
    AggregateFunction{"max_by", AggregateKind::Ordered, resolve_unchanged, "max_by(x, key)",
                      "Value of x in the row with the greatest key; rows where one of them is NULL do not count", OrderedAggregate::ArgMax},
    AggregateFunction{"arg_min_null", AggregateKind::Ordered, resolve_unchanged, "arg_min_null(x, key)",
                      "Value of x, also NULL, in the row with the smallest key", OrderedAggregate::ArgMinNull},
    AggregateFunction{"arg_max_null", AggregateKind::Ordered, resolve_unchanged, "arg_max_null(x, key)",
                      "Value of x, also NULL, in the row with the greatest key", OrderedAggregate::ArgMaxNull},
    AggregateFunction{"median", AggregateKind::Ordered, resolve_unchanged, "median(x)",
                      "The value in the middle; between two numbers or moments their mean", OrderedAggregate::QuantileContinuous},
    AggregateFunction{"quantile_cont", AggregateKind::Ordered, resolve_unchanged, "quantile_cont(x, fraction DOUBLE)",
                      "The value at this fraction of the sorted values, interpolated between two", OrderedAggregate::QuantileContinuous},
    AggregateFunction{"percentile_cont", AggregateKind::Ordered, resolve_unchanged,
                      "percentile_cont(fraction DOUBLE) WITHIN GROUP (ORDER BY x)",
                      "The value at this fraction of the sorted values, interpolated between two", OrderedAggregate::QuantileContinuous},
    AggregateFunction{"quantile", AggregateKind::Ordered, resolve_unchanged, "quantile(x, fraction DOUBLE)",
                      "The first of the sorted values at or after this fraction of them", OrderedAggregate::QuantileDiscrete},
    AggregateFunction{"quantile_disc", AggregateKind::Ordered, resolve_unchanged, "quantile_disc(x, fraction DOUBLE)",
                      "The first of the sorted values at or after this fraction of them", OrderedAggregate::QuantileDiscrete},
    AggregateFunction{"percentile_disc", AggregateKind::Ordered, resolve_unchanged,
                      "percentile_disc(fraction DOUBLE) WITHIN GROUP (ORDER BY x)",
                      "The first of the sorted values at or after this fraction of them", OrderedAggregate::QuantileDiscrete},
    AggregateFunction{"approx_quantile", AggregateKind::Ordered, resolve_unchanged, "approx_quantile(x, fraction DOUBLE)",
                      "The same as quantile_disc: exact", OrderedAggregate::QuantileDiscrete},
    AggregateFunction{"mode", AggregateKind::Ordered, resolve_unchanged, "mode(x)", "The most frequent value; the smallest of several",
                      OrderedAggregate::Mode},
    AggregateFunction{"string_agg", AggregateKind::Ordered, resolve_unchanged,
                      "string_agg(x [, separator VARCHAR] [ORDER BY key, ...]) -> VARCHAR",
                      "The values as one text with the separator between them, a comma by default", OrderedAggregate::Concatenate},
    AggregateFunction{"group_concat", AggregateKind::Ordered, resolve_unchanged,
                      "group_concat(x [, separator VARCHAR] [ORDER BY key, ...]) -> VARCHAR",
                      "The values as one text with the separator between them, a comma by default", OrderedAggregate::Concatenate},
    AggregateFunction{"listagg", AggregateKind::Ordered, resolve_unchanged,
                      "listagg(x [, separator VARCHAR] [ORDER BY key, ...]) -> VARCHAR",
                      "The values as one text with the separator between them, a comma by default", OrderedAggregate::Concatenate},
    AggregateFunction{"geometric_mean", AggregateKind::Ordered, resolve_moment, "geometric_mean(number) -> DOUBLE", "Geometric mean",
                      OrderedAggregate::GeometricMean},
    AggregateFunction{"geomean", AggregateKind::Ordered, resolve_moment, "geomean(number) -> DOUBLE", "Geometric mean",
                      OrderedAggregate::GeometricMean},
    AggregateFunction{"skewness", AggregateKind::Ordered, resolve_moment, "skewness(number) -> DOUBLE",
                      "Sample skewness; NULL for fewer than three values", OrderedAggregate::Skewness},
    AggregateFunction{"kurtosis", AggregateKind::Ordered, resolve_moment, "kurtosis(number) -> DOUBLE",
                      "Sample excess kurtosis; NULL for fewer than four values", OrderedAggregate::Kurtosis},
    AggregateFunction{"kurtosis_pop", AggregateKind::Ordered, resolve_moment, "kurtosis_pop(number) -> DOUBLE",
                      "Population excess kurtosis; NULL for fewer than two values", OrderedAggregate::KurtosisPopulation},
    AggregateFunction{"covar_pop", AggregateKind::Ordered, resolve_moment, "covar_pop(y, x) -> DOUBLE", "Population covariance",
                      OrderedAggregate::CovariancePopulation},
    AggregateFunction{"covar_samp", AggregateKind::Ordered, resolve_moment, "covar_samp(y, x) -> DOUBLE", "Sample covariance",
                      OrderedAggregate::CovarianceSample},
    AggregateFunction{"corr", AggregateKind::Ordered, resolve_moment, "corr(y, x) -> DOUBLE",
                      "Correlation coefficient; NULL if one side does not vary", OrderedAggregate::Correlation},
    AggregateFunction{"regr_count", AggregateKind::Ordered, resolve_moment, "regr_count(y, x) -> BIGINT",
                      "Number of rows where neither is NULL", OrderedAggregate::RegressionCount},
    AggregateFunction{"regr_avgx", AggregateKind::Ordered, resolve_moment, "regr_avgx(y, x) -> DOUBLE", "Mean of x where neither is NULL",
                      OrderedAggregate::RegressionAverageX},
    AggregateFunction{"regr_avgy", AggregateKind::Ordered, resolve_moment, "regr_avgy(y, x) -> DOUBLE", "Mean of y where neither is NULL",
                      OrderedAggregate::RegressionAverageY},
    AggregateFunction{"regr_sxx", AggregateKind::Ordered, resolve_moment, "regr_sxx(y, x) -> DOUBLE", "Sum of the squared deviations of x",
                      OrderedAggregate::RegressionSxx},
    AggregateFunction{"regr_syy", AggregateKind::Ordered, resolve_moment, "regr_syy(y, x) -> DOUBLE", "Sum of the squared deviations of y",
                      OrderedAggregate::RegressionSyy},
    AggregateFunction{"regr_sxy", AggregateKind::Ordered, resolve_moment, "regr_sxy(y, x) -> DOUBLE",
                      "Sum of the products of the deviations", OrderedAggregate::RegressionSxy},
    AggregateFunction{"regr_slope", AggregateKind::Ordered, resolve_moment, "regr_slope(y, x) -> DOUBLE",
                      "Slope of the line that fits best", OrderedAggregate::RegressionSlope},
    AggregateFunction{"regr_intercept", AggregateKind::Ordered, resolve_moment, "regr_intercept(y, x) -> DOUBLE",
                      "y of the line that fits best where x is 0", OrderedAggregate::RegressionIntercept},
    AggregateFunction{"regr_r2", AggregateKind::Ordered, resolve_moment, "regr_r2(y, x) -> DOUBLE",
                      "Share of the variance of y that the line explains", OrderedAggregate::RegressionR2},
    AggregateFunction{"countif", AggregateKind::CountIf, resolve_condition, "countif(boolean) -> BIGINT", "Number of values that are true"},
};

}  // namespace

void for_each_expression(AggregateCall& call, const std::function<void(ExpressionPtr&)>& visit) {
  if (call.argument) visit(call.argument);
  if (call.filter) visit(call.filter);
  for (ExpressionPtr& argument : call.further) visit(argument);
  for (AggregateOrder& key : call.order) visit(key.expression);
}

const AggregateFunction* find_aggregate(std::string_view name) {
  for (const AggregateFunction& function : kAggregates) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::span<const AggregateFunction> all_aggregates() {
  return kAggregates;
}

const AggregateFunction& count_rows_aggregate() {
  return kCountRows;
}

bool is_count(const AggregateFunction& function) {
  switch (function.kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count:
    case AggregateKind::CountIf:
    case AggregateKind::ApproxCountDistinct: return true;
    default: return function.ordered == OrderedAggregate::RegressionCount;
  }
}

bool ignores_duplicates(const AggregateFunction& function) {
  switch (function.kind) {
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr:
    case AggregateKind::AnyValue:
    case AggregateKind::BitAnd:
    case AggregateKind::BitOr:
    case AggregateKind::ApproxCountDistinct: return true;
    default: return false;
  }
}

}  // namespace pistachio
