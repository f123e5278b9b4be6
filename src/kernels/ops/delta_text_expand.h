// Expands DELTA_BYTE_ARRAY of one page: value i is the first prefix_lengths[i] bytes of value i - 1, then suffix i.
//   bytes           uint8 [..], where the suffixes are
//   prefix_lengths  int64 [n], from delta_binary_decode
//   suffix_begins, suffix_ends  int64 [n]
// Returns (bytes uint8, begins int64 [n], ends int64 [n]); the values are back to back.
// DataError: a prefix is negative or longer than the previous value (the first must be 0), a suffix is outside `bytes`, or the output
// would exceed max_output_bytes (a few bytes of a hostile file can expand to terabytes).
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor, at::Tensor> delta_text_expand(const at::Tensor& bytes, const at::Tensor& prefix_lengths,
                                                                 const at::Tensor& suffix_begins, const at::Tensor& suffix_ends,
                                                                 int64_t max_output_bytes);

}  // namespace pistachio::kernels
