// Decodes PLAIN pages of FIXED_LEN_BYTE_ARRAY (and INT96, width 12): a copy of rows of `width` bytes.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 4], rows {begin, end, skip, take}; a page's values are bytes[begin, end)
//   width  bytes per value, at most kLargestFixedWidth
// Returns uint8 [sum of take, width]. DataError: a page is shorter than skip + take values.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

// The longest FIXED_LEN_BYTE_ARRAY that can be decoded, in any encoding.
constexpr int64_t kLargestFixedWidth = int64_t{1} << 16;

at::Tensor plain_fixed_bytes_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width);

}  // namespace pistachio::kernels
