// Finds the values in PLAIN pages of BYTE_ARRAY: each is a 4-byte little-endian length, then that many bytes. Nothing is copied.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 4], rows {begin, end, skip, take}; a page's values are bytes[begin, end)
// Returns (begins, ends) int64 [sum of take]: value i is bytes[begins[i], ends[i]).
// DataError: a length or a value crosses the end of its page.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> plain_text_decode(const at::Tensor& bytes, const at::Tensor& pages);

}  // namespace pistachio::kernels
