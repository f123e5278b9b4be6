// What the footers of a table's files state exactly, as far as they can be trusted: bounds and NULLs of a column. Unlike estimates, results of
// queries may depend on it.
#pragma once

#include <optional>

#include "catalog/table.h"

namespace pistachio {

// The least and greatest value of a column; neither if it has no values.
struct FooterBounds {
  std::optional<ScalarValue> least;
  std::optional<ScalarValue> greatest;
};

// Nullopt if a row group has no statistics, or only inexact ones, as of truncated text; always for floating-point numbers, whose statistics omit
// NaN and the sign of zero, for partition columns, for tables in memory, and while files are unopened.
std::optional<FooterBounds> exact_bounds(const Table& table, size_t column);

// The number of values that are not NULL; nullopt as above.
std::optional<int64_t> exact_value_count(const Table& table, size_t column);

}  // namespace pistachio
