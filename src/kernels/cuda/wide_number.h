// 64- and 128-bit arithmetic with overflow detection and sums of 192 bits in device code, for .cu files: host compilers' overflow builtins
// are not available there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

using WideInt = __int128;
using WideUnsigned = unsigned __int128;

__host__ __device__ inline WideInt wide_number(WideWords words) {
  return static_cast<WideInt>(static_cast<WideUnsigned>(static_cast<uint64_t>(words.high)) << 64 | static_cast<uint64_t>(words.low));
}

__host__ __device__ inline WideWords wide_words(WideInt number) {
  return {static_cast<int64_t>(static_cast<uint64_t>(number)), static_cast<int64_t>(number >> 64)};
}

__host__ __device__ inline WideUnsigned magnitude_of(WideInt number) {
  return number < 0 ? WideUnsigned{0} - static_cast<WideUnsigned>(number) : static_cast<WideUnsigned>(number);
}

// These return whether the result overflows; `result` is then the low 128 bits (undefined for products).
__host__ __device__ inline bool add_overflows(WideInt left, WideInt right, WideInt& result) {
  result = static_cast<WideInt>(static_cast<WideUnsigned>(left) + static_cast<WideUnsigned>(right));
  return ((left ^ result) & (right ^ result)) < 0;
}

__host__ __device__ inline bool subtract_overflows(WideInt left, WideInt right, WideInt& result) {
  result = static_cast<WideInt>(static_cast<WideUnsigned>(left) - static_cast<WideUnsigned>(right));
  return ((left ^ right) & (left ^ result)) < 0;
}

__host__ __device__ inline bool add_overflows(int64_t left, int64_t right, int64_t& result) {
  result = static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
  return ((left ^ result) & (right ^ result)) < 0;
}

__host__ __device__ inline bool subtract_overflows(int64_t left, int64_t right, int64_t& result) {
  result = static_cast<int64_t>(static_cast<uint64_t>(left) - static_cast<uint64_t>(right));
  return ((left ^ right) & (left ^ result)) < 0;
}

__host__ __device__ inline bool multiply_overflows(int64_t left, int64_t right, int64_t& result) {
  const WideInt product = static_cast<WideInt>(left) * right;
  result = static_cast<int64_t>(product);
  return product != result;
}

__host__ __device__ inline bool multiply_overflows(WideInt left, WideInt right, WideInt& result) {
  const WideUnsigned first = magnitude_of(left), second = magnitude_of(right);
  const auto first_high = static_cast<uint64_t>(first >> 64), second_high = static_cast<uint64_t>(second >> 64);
  const auto first_low = static_cast<uint64_t>(first), second_low = static_cast<uint64_t>(second);
  if (first_high != 0 && second_high != 0) return true;
  // At most one of the cross products is nonzero.
  const WideUnsigned cross = static_cast<WideUnsigned>(first_high) * second_low + static_cast<WideUnsigned>(second_high) * first_low;
  const WideUnsigned low = static_cast<WideUnsigned>(first_low) * second_low;
  const WideUnsigned magnitude = low + (cross << 64);
  if (cross >> 64 != 0 || magnitude < low) return true;
  const bool negative = (left < 0) != (right < 0);
  const WideUnsigned most = (WideUnsigned{1} << 127) - (negative ? 0 : 1);
  result = static_cast<WideInt>(negative ? WideUnsigned{0} - magnitude : magnitude);
  return magnitude > most;
}

// Sums of two-word values that cannot overflow, two's complement.
struct Int192 {
  uint64_t low, middle, high;
};

__host__ __device__ inline Int192 widen(WideWords value) {
  return {static_cast<uint64_t>(value.low), static_cast<uint64_t>(value.high), static_cast<uint64_t>(value.high >> 63)};
}

struct Add192 {
  __host__ __device__ Int192 operator()(const Int192& left, const Int192& right) const {
    Int192 sum;
    sum.low = left.low + right.low;
    const uint64_t low_carry = sum.low < left.low ? 1 : 0;
    const uint64_t middle = left.middle + right.middle;
    const uint64_t first_carry = middle < left.middle ? 1 : 0;
    sum.middle = middle + low_carry;
    const uint64_t second_carry = sum.middle < middle ? 1 : 0;
    sum.high = left.high + right.high + first_carry + second_carry;
    return sum;
  }
};

// The remainder modulo 2^192: exact if a difference of sums is the sum of fewer values.
__host__ __device__ inline Int192 difference(const Int192& left, const Int192& right) {
  const Int192 complement{~right.low, ~right.middle, ~right.high};
  return Add192()(Add192()(left, complement), {1, 0, 0});
}

__host__ __device__ inline bool fits_two_words(const Int192& number) {
  return static_cast<int64_t>(number.high) == static_cast<int64_t>(number.middle) >> 63;
}

}  // namespace pistachio::kernels::cuda
