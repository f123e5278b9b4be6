// Maps text to numbers of the same order, as sort keys.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   stop                 bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [n]: the number of distinct values less than value i, byte by byte as unsigned, a proper prefix being less.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& stop = {});

}  // namespace pistachio::kernels
