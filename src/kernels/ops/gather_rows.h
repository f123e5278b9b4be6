// Takes rows of a column, for the output of joins and sorts.
//   values  [n] of any column dtype, or int64 [n, 2]
//   rows    int64 [m] in [-1, n), not checked; -1 means no row
// Returns [m] or [m, 2]: values[rows[i]], zero for -1.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows);

}  // namespace pistachio::kernels
