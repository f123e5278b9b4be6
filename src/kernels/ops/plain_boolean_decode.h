// Decodes PLAIN pages of booleans: one bit per value, least significant bit of each byte first.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 4], rows {begin, end, skip, take}; a page's values are bytes[begin, end)
// Returns bool [sum of take]. DataError: a page is shorter than skip + take bits.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages);

}  // namespace pistachio::kernels
