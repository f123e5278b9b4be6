// Count, mean and sum of squared distances from the mean of ranges of rows, for window functions.
//   values        [n], float or double
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   begins, ends  int64 [k, m]: the rows [begins[i, j], ends[i, j]) of all i are the range of result j. None if the end is not greater. They are
//                 inside [0, n), not checked. Fast if neither bound ever decreases from one range that has rows to the next
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// Returns double [m, 3], as the state of segment_moments, merged as there in unspecified order.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor range_moments(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                         const at::Tensor& stop = {});

}  // namespace pistachio::kernels
