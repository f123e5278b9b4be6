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
    AggregateFunction{"sum", AggregateKind::Sum, resolve_sum, "sum(number)", "Sum; exact for integers and decimals; NULL if there are no values"},
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
    AggregateFunction{"countif", AggregateKind::CountIf, resolve_condition, "countif(boolean) -> BIGINT", "Number of values that are true"},
};

}  // namespace

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
    default: return false;
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
