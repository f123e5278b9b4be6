// CPU bodies of segment_sketch, sketch_merge and sketch_sums.

#include <algorithm>
#include <bit>

#include "kernels/ops/body_table.h"
#include "kernels/ops/segment_sketch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// A branch, rarely taken once a sketch has some values: rows do not wait for each other's stores.
void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes) {
  uint8_t* all = registers.mutable_data_ptr<uint8_t>();
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const int64_t* hash = hashes.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < ids.numel(); ++row) {
    const auto bits = static_cast<uint64_t>(hash[row]);
    const auto rank = static_cast<uint8_t>(1 + std::countr_zero((bits >> sketch_register_bits) | uint64_t{1} << (most_sketch_rank - 1)));
    uint8_t& own = all[id[row] * sketch_registers + static_cast<int64_t>(bits & (sketch_registers - 1))];
    if (rank > own) own = rank;
  }
}

void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others) {
  const int64_t* id = ids.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < ids.numel(); ++row) {
    uint8_t* own = registers.mutable_data_ptr<uint8_t>() + id[row] * sketch_registers;
    const uint8_t* other = others.const_data_ptr<uint8_t>() + row * sketch_registers;
    for (int64_t i = 0; i < sketch_registers; ++i) own[i] = std::max(own[i], other[i]);
  }
}

at::Tensor sketch_sums(const at::Tensor& registers) {
  at::Tensor sums = at::empty({registers.size(0), 2}, registers.options().dtype(at::kLong));
  int64_t* out = sums.mutable_data_ptr<int64_t>();
  for (int64_t sketch = 0; sketch < registers.size(0); ++sketch) {
    const uint8_t* ranks = registers.const_data_ptr<uint8_t>() + sketch * sketch_registers;
    int64_t zeros = 0, sum = 0;
    for (int64_t i = 0; i < sketch_registers; ++i) {
      const int64_t is_zero = ranks[i] == 0;
      zeros += is_zero;
      sum += (1 - is_zero) << (most_sketch_rank - std::min<int64_t>(ranks[i], most_sketch_rank));
    }
    out[2 * sketch] = zeros;
    out[2 * sketch + 1] = sum;
  }
  return sums;
}

}  // namespace

REGISTER_BODY(Cpu, "segment_sketch", segment_sketch);
REGISTER_BODY(Cpu, "sketch_merge", sketch_merge);
REGISTER_BODY(Cpu, "sketch_sums", sketch_sums);

}  // namespace pistachio::kernels::cpu
