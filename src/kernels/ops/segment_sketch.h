// HyperLogLog sketches, which estimate the number of distinct values of a group. A sketch is sketch_registers bytes, all zeros without
// values. The low bits of a value's hash choose a register, which keeps the greatest rank: 1 + the trailing zeros of the other bits, at
// most most_sketch_rank. So a sketch depends only on the set of hashes, not on their order or on how sketches were merged. registers  the
// state, contiguous, modified in place: uint8 [k, sketch_registers] ids        int64 [n], the sketch of each row, in [0, k): not checked
// hashes     int64 [n], with well-mixed bits, as of hash64 others     uint8 [n, sketch_registers], the sketches to merge segment_sketch
// adds hashes, sketch_merge the values of other sketches. sketch_sums returns int64 [k, 2]: the number of registers that are zero, and the
// sum of 2^(most_sketch_rank - rank) over the others.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

inline constexpr int64_t sketch_register_bits = 12;
inline constexpr int64_t sketch_registers = int64_t{1} << sketch_register_bits;
inline constexpr int64_t most_sketch_rank = 50;

void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes);
void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others);
at::Tensor sketch_sums(const at::Tensor& registers);

}  // namespace pistachio::kernels
