// TRY_CAST: casts that yield NULL instead of an error.
#include <array>

#include "base/error.h"
#include "columns/concatenate_columns.h"
#include "columns/row_selection.h"
#include "expr/argument_access.h"
#include "expr/cast.h"
#include "expr/function_families.h"

namespace pistachio {

namespace {

// NULL where the cast fails. A column with a failing value is halved until the value is alone: the work is in proportion to the number of
// such values.
Column try_to_cast(const Column& column, LogicalType type, const at::Tensor& valid, const CancelToken* token) {
  if (token != nullptr) stop_if_cancelled(*token);
  try {
    return cast_column(column, type, valid, token);
  } catch (const UserError&) {
    const int64_t rows = column.rows();
    if (rows <= 1) return null_column(type, rows, at::kCPU);
    const int64_t half = rows / 2;
    auto part = [&](int64_t begin, int64_t count) {
      return try_to_cast(column.slice(begin, count), type, valid.defined() ? valid.slice(0, begin, begin + count) : at::Tensor(), token);
    };
    const Column first = part(0, half);
    return concatenate_columns({first, part(half, rows - half)}, {});
  }
}

Column try_cast(const FunctionCall& call) {
  return try_to_cast(call.arguments[0].expanded(call.rows), call.result, call.valid, call.token);
}

// The binder makes calls of it from TRY_CAST, which names the type.
std::optional<FunctionTypes> resolve_never(Types, Literals) {
  return std::nullopt;
}

const std::array kCastFunctions = {
    Function{.name = "try_cast",
             .resolve = resolve_never,
             .evaluate = try_cast,
             .signature = "TRY_CAST(value AS type)",
             .description = "The value in this type; NULL if it cannot be cast"},
};

}  // namespace

std::span<const Function> cast_functions() {
  return kCastFunctions;
}

}  // namespace pistachio
