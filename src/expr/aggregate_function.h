// The aggregate functions as data: names, argument rules, result types. exec/operators/aggregate_state implements them.
#pragma once

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
  CountIf  // in calls count(*) FILTER
};

struct AggregateFunction {
  std::string_view name;
  AggregateKind kind;
  // The type that the argument is cast to, and the result type; nullopt if the argument does not fit.
  std::optional<std::pair<LogicalType, LogicalType>> (*resolve)(LogicalType argument);
  std::string_view signature;
  std::string_view description;
};

const AggregateFunction* find_aggregate(std::string_view name);
std::span<const AggregateFunction> all_aggregates();
const AggregateFunction& count_rows_aggregate();
// Whether the result without any row is 0; others are NULL.
bool is_count(const AggregateFunction& function);
// Whether DISTINCT makes no difference.
bool ignores_duplicates(const AggregateFunction& function);

// A call: sum(DISTINCT x) FILTER (WHERE y).
struct AggregateCall {
  ColumnId id;  // of the result
  const AggregateFunction* function = nullptr;
  ExpressionPtr argument;  // null for count(*)
  bool distinct = false;
  ExpressionPtr filter;  // may be null
  LogicalType type = TypeKind::BigInt;
};

}  // namespace pistachio
