// Choosing rows of a column: by mask, by index, and the inverse, opening gaps. All three forms of columns; text moves begins and ends only.
#pragma once

#include "data/chunk.h"
#include "data/column.h"

namespace pistachio {

// Rows whose mask (bool) is true.
Column select_rows(const Column& column, const at::Tensor& mask);
Chunk select_rows(const Chunk& chunk, const at::Tensor& mask);

// `dense` has a value for each true of `validity`; gives a column of validity's length, NULL where false.
Column spread_rows(const Column& dense, const at::Tensor& validity);

// The rows of these indices (int64), in their order.
Column take_rows(const Column& column, const at::Tensor& rows);
// As take_rows, but index -1 gives NULL; `valid` (bool) says where the index is not -1.
Column take_rows_or_null(const Column& column, const at::Tensor& rows, const at::Tensor& valid);
Chunk take_rows(const Chunk& chunk, const at::Tensor& rows);

// A column of no rows.
Column empty_column(LogicalType type, at::Device device);
// A column of so many NULLs.
Column null_column(LogicalType type, int64_t rows, at::Device device);

// Both at once; undefined means all valid.
at::Tensor both_valid(const at::Tensor& left, const at::Tensor& right);

}  // namespace pistachio
