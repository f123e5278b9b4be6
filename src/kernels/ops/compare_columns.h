// Compares two columns row by row: left <op> right.
//   left, right  [n] of any column dtype, or int64 [n, 2]; both of the same dtype and shape
// Returns bool [n]. NaN orders as in PostgreSQL: equal to NaN, greater than every number. The caller handles NULLs.
// compare_text_columns does the same for two texts of n values each, byte by byte as unsigned, a proper prefix being less.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/comparison.h"

namespace pistachio::kernels {

at::Tensor compare_columns(const at::Tensor& left, Comparison comparison, const at::Tensor& right);
at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                Comparison comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends);

}  // namespace pistachio::kernels
