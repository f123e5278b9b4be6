// Stable sort of rows by sort keys.
//   words  at least one int64 [n], the most significant first; the caller encodes values, NULLs and directions as words whose signed
//          order is the requested one
//   stop   bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [n]: the row numbers in ascending lexicographic order of their words; equal rows keep their order.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor sort_order(at::TensorList words, const at::Tensor& stop = {});

}  // namespace pistachio::kernels
