// Bitwise AND, OR or XOR of the integers of ranges of rows, for window functions.
//   values        int64 [n]
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   begins, ends  int64 [k, m]: the rows [begins[i, j], ends[i, j]) of all i are the range of result j. None if the end is not greater. They are
//                 inside [0, n), not checked. Fast if neither bound ever decreases from one range that has rows to the next
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [m]: all ones for the AND of no rows, zero for the others.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/segment_bits.h"

namespace pistachio::kernels {

at::Tensor range_bits(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, BitOp op,
                      const at::Tensor& stop = {});

}  // namespace pistachio::kernels
