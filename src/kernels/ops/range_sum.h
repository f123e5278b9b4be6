// Sums of ranges of rows, for window functions.
//   values        [n] integers, booleans or int64 [n, 2] for range_sum; float or double for range_sum_float
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   begins, ends  int64 [k, m]: the rows [begins[i, j], ends[i, j]) of all i are the range of result j. None if the end is not greater. They are
//                 inside [0, n), not checked. Fast if neither bound ever decreases from one range that has rows to the next
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// range_sum returns int64 [m, 2], exact. UserError: a sum does not fit 128 bits. range_sum_float returns double [m]; the order of additions is
// unspecified. Nothing is ever subtracted from a floating-point sum: that would lose digits, and NaN would stay.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor range_sum(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                     const at::Tensor& stop = {});
at::Tensor range_sum_float(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends,
                           const at::Tensor& stop = {});

}  // namespace pistachio::kernels
