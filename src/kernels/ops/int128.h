// 128-bit integers: values of DECIMAL(p > 18) and exact sums of 64-bit ones. In tensors they are two int64 words: low (unsigned bits),
// then high (signed).
#pragma once

#include <cstdint>

namespace pistachio::kernels {

using Int128 = __int128;
using UInt128 = unsigned __int128;

constexpr Int128 int128_from_words(int64_t low, int64_t high) {
  return static_cast<Int128>((static_cast<UInt128>(static_cast<uint64_t>(high)) << 64) | static_cast<uint64_t>(low));
}
constexpr int64_t low_word(Int128 value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}
constexpr int64_t high_word(Int128 value) {
  return static_cast<int64_t>(value >> 64);
}

}  // namespace pistachio::kernels
