// 64-bit hashes, as int64, for partitioning, grouping and joining; every bit depends on every input bit. Bodies agree bit for bit, so
// ranks with different devices agree on the owner of a key. The caller handles NULLs.
//   hash64          values [n] of any column dtype or int64 [n, 2]. An integer or boolean hashes as its int64 value whatever its width, a
//                   two-word decimal that fits int64 as that int64. float hashes as its double value; -0.0 as 0.0; all NaNs alike
//   hash64_text     by the bytes of each value
//   hash64_combine  of two hash tensors [n], for keys of several columns; the order of the arguments matters
// The functions, mod 2^64, with mix(x): x ^= x >> 32; x *= 0xd6e8feb86659fd93; x ^= x >> 32; x *= 0xd6e8feb86659fd93; x ^= x >> 32:
//   integer v       mix(v + 0x9e3779b97f4a7c15)                    double: mix(its bits + 0x9e3779b97f4a7c16)
//   combine(a, b)   mix(a * 0x9e3779b97f4a7c15 + b)                two words: combine(mix(low + 0x9e37..15), high)
//   text            h = 0xa0761d6478bd642f; for each 16 bytes, zero-padded, as little-endian words u, v:
//                   p = (u ^ 0xe7037ed1a0b428db) * (v ^ h) in 128 bits, h = low(p) ^ high(p); in the end mix(h ^ length)
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor hash64(const at::Tensor& values);
at::Tensor hash64_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends);
at::Tensor hash64_combine(const at::Tensor& first, const at::Tensor& second);

}  // namespace pistachio::kernels
