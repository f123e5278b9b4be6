// Moves the stored values of a column with NULLs to their rows; Parquet stores no value for a NULL.
//   values    [k] of any column dtype, or int64 [k, 2]
//   validity  bool [n] with k true elements
// Returns [n] or [n, 2]: the values in order where validity is true, zeros elsewhere.
// InternalError: k is not the number of true elements (storage has checked the page counts before).
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity);

}  // namespace pistachio::kernels
