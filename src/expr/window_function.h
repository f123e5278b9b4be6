// Window functions as data, and calls of them. Aggregates are window functions, too. exec/window implements them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "expr/aggregate_function.h"
#include "expr/expression.h"

namespace pistachio {

enum class WindowKind {
  RowNumber,
  Rank,
  DenseRank,
  PercentRank,
  CumeDist,
  Ntile,
  Lag,
  Lead,
  FirstValue,
  LastValue,
  NthValue,
  Concatenate,  // of string_agg: the partition's texts at its first row, NULL at others
  Aggregate     // of an AggregateFunction
};

struct WindowFunction {
  std::string_view name;
  WindowKind kind;
  size_t least_arguments;
  size_t most_arguments;
  bool may_ignore_nulls;
  std::string_view signature;
  std::string_view description;
};

// Null for other names, also those of aggregates.
const WindowFunction* find_window_function(std::string_view name);
std::span<const WindowFunction> all_window_functions();

// Whether the function looks at the frame: others see the whole partition.
bool uses_frame(WindowKind kind);

struct FrameBound {
  enum class Kind { UnboundedPreceding, Preceding, CurrentRow, Following, UnboundedFollowing };
  Kind kind = Kind::UnboundedPreceding;
  int64_t count = 0;    // of rows or groups: Preceding and Following of ROWS and GROUPS
  ExpressionPtr value;  // the order key at which the frame begins or ends: Preceding and Following of RANGE
};

// The rows around a row of its partition that an aggregate sees.
struct WindowFrame {
  enum class Unit { Rows, Range, Groups };
  enum class Exclusion { NoOthers, CurrentRow, Group, Ties };
  Unit unit = Unit::Range;
  FrameBound begin{FrameBound::Kind::UnboundedPreceding};
  FrameBound end{FrameBound::Kind::CurrentRow};
  Exclusion exclusion = Exclusion::NoOthers;
  ExpressionPtr range_key;  // the order key in the type of the bounds' values, if there are any
};

struct WindowCall {
  ColumnId id;  // of the result
  WindowKind kind = WindowKind::RowNumber;
  const AggregateFunction* aggregate = nullptr;
  std::vector<ExpressionPtr> arguments;
  ExpressionPtr filter;  // may be null; only of aggregates
  bool distinct = false;
  bool ignore_nulls = false;
  WindowFrame frame;
  size_t order_keys = 0;  // the order keys of its plan node that are its own: the first ones
  LogicalType type = TypeKind::BigInt;
};

std::string_view window_function_name(const WindowCall& call);
void for_each_expression(WindowCall& call, const std::function<void(ExpressionPtr&)>& visit);
// row_number(), sum(x) ROWS BETWEEN 1 PRECEDING AND CURRENT ROW; `name_of` as in expression_text.
std::string window_call_text(const WindowCall& call, const std::function<std::string(ColumnId)>& name_of);

}  // namespace pistachio
