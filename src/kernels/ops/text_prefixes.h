// The bytes of text that follow a common prefix, as words of the order of the values: cheaper than text_ranks, and comparable between calls
// with the same prefix.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   prefix               uint8 [p] on the host, any p
// Returns (words int64 [n], lengths int64 [n]). For values that begin with the prefix: the next eight bytes as a big-endian number, missing
// ones as zeros, shifted to signed order; and the number of bytes after the prefix, at most 9. Lesser values: the least int64 and -1;
// greater ones: the greatest int64 and 9. Values sort like (word, length), byte by byte as unsigned, except that two values may be unequal
// although both have the same word and the same length, if that is -1 or 9.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_prefixes(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                 const at::Tensor& prefix);

}  // namespace pistachio::kernels
