// Decodes BYTE_STREAM_SPLIT pages: for each j = 0 .. width - 1, byte j of all values as one stream.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 5], rows {begin, end, values, skip, take}; values = values stored in the page = length of a stream
//   width  bytes per value, at most kLargestFixedWidth (kernels/ops/plain_fixed_bytes_decode.h)
// Returns uint8 [sum of take, width], the values as they would be in PLAIN: reinterpret with .view(dtype).
// DataError: a page is shorter than values * width bytes or has fewer values than skip + take.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor byte_stream_split_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width);

}  // namespace pistachio::kernels
