// An exact set of integers of a limited range, a bit for each of them.
//   words   int64 [w]: the bit of the value least + i is bit i & 63 of word i >> 6; zeros are the empty set. Sets with the same least and
//           size are merged by bitwise or
//   values  [n] integers, without NULLs for key_bitmap_add
// key_bitmap_add adds values, which must be in the range: not checked. key_bitmap_test returns bool [n]: whether a value is in the set;
// false for values outside the range.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void key_bitmap_add(at::Tensor& words, const at::Tensor& values, int64_t least);
at::Tensor key_bitmap_test(const at::Tensor& words, const at::Tensor& values, int64_t least);

}  // namespace pistachio::kernels
