// Decodes definition levels (RLE / bit-packed hybrid, bit width ceil(log2(max_level + 1))) to validity.
//   bytes  uint8 [..]
//   pages  int64 CPU [pages, 5], rows {begin, end, max_level 0..32767, skip, take}; the stream, without its length, is bytes[begin, end)
// Returns (validity bool [sum of take]: level == max_level; counts int64 CPU [pages, 2]: valid values among the skipped and among the
// taken levels, that is, where the values of the taken rows start in the page and how many there are).
// DataError: the stream ends too early, or a level (also a skipped one) is above max_level.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> definition_levels_decode(const at::Tensor& bytes, const at::Tensor& pages);

}  // namespace pistachio::kernels
