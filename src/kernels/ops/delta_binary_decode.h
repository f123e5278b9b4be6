// Decodes DELTA_BINARY_PACKED: integers, and the length streams of DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
//   bytes      uint8 [..]
//   pages      int64 CPU [pages, 5], rows {begin, end, values, skip, take}; values is from the page header, for information only
//   is_32_bit  the column is INT32: arithmetic wraps at 32 bits instead of 64
// Returns (values int64 [sum of take], ends int64 CPU [pages]: offset in `bytes` of the first byte after each page's stream).
// DataError: the stream ends early; its header is invalid (block size not a multiple of 128 up to 2^20, miniblock size not a multiple of
// 32, more than 2^10 miniblocks); a bit width is above 64; the header counts fewer than skip + take values.
// Miniblocks of the last block without values have no bytes; missing padding after the last value is tolerated.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit);

}  // namespace pistachio::kernels
