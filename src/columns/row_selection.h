// Selects rows of a column by mask or by index, and the inverse: spreads values over NULLs. Works on all three column forms; for text only
// begins and ends are moved.
#pragma once

#include "data/chunk.h"
#include "data/column.h"

namespace pistachio {

// Rows whose mask (bool) is true; `selected` is their number, if it is known.
Column select_rows(const Column& column, const at::Tensor& mask);
Column select_rows(const Column& column, const at::Tensor& mask, int64_t selected);
Chunk select_rows(const Chunk& chunk, const at::Tensor& mask);
Chunk select_rows(const Chunk& chunk, const at::Tensor& mask, int64_t selected);

// `dense` has one value per true element of `validity`; returns a column of validity's length, NULL where false.
Column spread_rows(const Column& dense, const at::Tensor& validity);

// The rows at these indices (int64), in that order.
Column take_rows(const Column& column, const at::Tensor& rows);
// Like take_rows, but index -1 yields NULL; `valid` (bool) is true where the index is not -1.
Column take_rows_or_null(const Column& column, const at::Tensor& rows, const at::Tensor& valid);
Chunk take_rows(const Chunk& chunk, const at::Tensor& rows);

// A column without rows.
Column empty_column(LogicalType type, at::Device device);
// A column of `rows` NULLs.
Column null_column(LogicalType type, int64_t rows, at::Device device);

// Logical AND of two validity tensors; undefined means all valid.
at::Tensor both_valid(const at::Tensor& left, const at::Tensor& right);

}  // namespace pistachio
