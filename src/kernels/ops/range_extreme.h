// Rows with the minimum or maximum of ranges of rows, for window functions.
//   words         int64 [n], in the order of the values
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   begins, ends  int64 [k, m]: the rows [begins[i, j], ends[i, j]) of all i are the range of result j. None if the end is not greater. They are
//                 inside [0, n), not checked. Fast if neither bound ever decreases from one range that has rows to the next
//   take_max      maximum, else minimum
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [m]: the first row with the extreme word, -1 if there is none.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor range_extreme(const at::Tensor& words, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, bool take_max,
                         const at::Tensor& stop = {});

}  // namespace pistachio::kernels
