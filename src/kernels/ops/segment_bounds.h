// Where the segments of consecutive rows begin and end, for each row.
//   starts  bool [n]: whether a segment begins at the row; the first row begins one anyway
// Returns (begins, ends), int64 [n] each: the first row of the row's segment, and the row behind its last one.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts);

}  // namespace pistachio::kernels
