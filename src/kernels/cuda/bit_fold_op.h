// The bitwise operations of segment_bits and range_bits. No torch headers: nvcc compiles this too.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

// Same values as BitOp of kernels/ops/segment_bits.h, which nvcc cannot compile.
enum class BitFoldOp : int64_t { And, Or, Xor };

#ifdef __CUDACC__
template <BitFoldOp op, typename Word>
__device__ Word bit_identity() {
  return op == BitFoldOp::And ? static_cast<Word>(~Word{0}) : Word{0};
}

template <BitFoldOp op, typename Word>
__device__ Word combine_bits(Word left, Word right) {
  if constexpr (op == BitFoldOp::And) {
    return left & right;
  } else if constexpr (op == BitFoldOp::Or) {
    return left | right;
  } else {
    return left ^ right;
  }
}
#endif

}  // namespace pistachio::kernels::cuda
