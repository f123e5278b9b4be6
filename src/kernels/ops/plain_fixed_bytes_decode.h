// Decodes PLAIN pages of FIXED_LEN_BYTE_ARRAY (and INT96, width 12): a copy of rows of `width` bytes.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 4], rows {begin, end, skip, take}; a page's values are bytes[begin, end)
// Returns uint8 [sum of take, width]. DataError: a page is shorter than skip + take values.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor plain_fixed_bytes_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width);

}  // namespace pistachio::kernels
