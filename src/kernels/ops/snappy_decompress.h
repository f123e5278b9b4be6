// Decompresses the Snappy blocks of many pages at once. For pages that are decoded on a GPU; scans on the CPU decompress page by page.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 4], rows {begin, end, plain, size}: of bytes[begin, end), the first `plain` bytes are copied and the rest, if
//          there is any, is one block; both together yield `size` bytes
// Returns uint8 [sum of size], pages in order, and int64 [1] on the same device: 0, or -1 - page for the first page whose block is
// malformed or yields another number of bytes. The contents of such a page are undefined. Does not wait for the device: callers may decode
// the pages first, since decoding checks everything it reads, and look at the second result afterwards.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> snappy_decompress(const at::Tensor& bytes, const at::Tensor& pages);

}  // namespace pistachio::kernels
