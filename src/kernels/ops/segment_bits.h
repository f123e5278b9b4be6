// Bitwise AND, OR or XOR of the integers of each group: adds a batch of rows to the state.
//   bits      the state, contiguous, modified in place: [g]; arbitrary where seen is false
//   seen      the state, contiguous, modified in place: bool [g], whether the group has a value yet
//   ids       int64 [n], the group of each row, in [0, g): not checked
//   values    [n], of the dtype of bits: int8 .. int64
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are ignored
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

enum class BitOp : int64_t { And, Or, Xor };

void segment_bits(at::Tensor& bits, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, BitOp op,
                  const at::Tensor& validity = {});

}  // namespace pistachio::kernels
