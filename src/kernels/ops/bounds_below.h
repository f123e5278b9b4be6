// Finds the range of each row between bounds, both as words like those of sort_order.
//   words   at least one int64 [n], the most significant first
//   bounds  as many int64 [m], in ascending lexicographic order
//   stop    bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [n]: the number of bounds whose words are not greater than the row's in lexicographic order.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor bounds_below(at::TensorList words, at::TensorList bounds, const at::Tensor& stop = {});

}  // namespace pistachio::kernels
