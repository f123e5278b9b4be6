// Numbers of different values in ranges of rows, for window functions.
//   ids           int64 [n] in [0, values), not checked: equal for equal values
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   begins, ends  int64 [k, m]: the rows [begins[i, j], ends[i, j]) of all i are the range of result j. None if the end is not greater. They are
//                 inside [0, n), not checked. Fast if neither bound ever decreases from one range that has rows to the next
//   values        how many ids there are
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [m].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

at::Tensor range_distinct(const at::Tensor& ids, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, int64_t values,
                          const at::Tensor& stop = {});

}  // namespace pistachio::kernels
