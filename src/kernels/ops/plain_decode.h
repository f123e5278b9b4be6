// Decodes PLAIN pages of fixed-width little-endian numbers: a copy to aligned memory.
//   bytes  uint8 [..], values at any alignment
//   pages  int64 CPU [pages, 4], rows {begin, end, skip, take}; a page's values are bytes[begin, end)
//   type   int32, int64, float or double
// Returns type [sum of take]. DataError: a page is shorter than skip + take values.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type);

}  // namespace pistachio::kernels
