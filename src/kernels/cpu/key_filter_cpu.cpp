// CPU bodies of key_filter_add and key_filter_test. Scalar loops: they are bound by memory latency, and rows are independent.

#include <bit>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

uint64_t bits_of(uint64_t hash) {
  return uint64_t{1} << (hash & 63) | uint64_t{1} << (hash >> 6 & 63) | uint64_t{1} << (hash >> 12 & 63);
}

int shift_of(const at::Tensor& words) {
  return 64 - std::countr_zero(static_cast<uint64_t>(words.numel()));
}

void key_filter_add(at::Tensor& words, const at::Tensor& hashes) {
  const int shift = shift_of(words);
  auto* filter = reinterpret_cast<uint64_t*>(words.mutable_data_ptr<int64_t>());
  const auto* hash = reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>());
  for (int64_t row = 0, rows = hashes.numel(); row < rows; ++row) filter[hash[row] >> shift] |= bits_of(hash[row]);
}

at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes) {
  const int shift = shift_of(words);
  const auto* filter = reinterpret_cast<const uint64_t*>(words.const_data_ptr<int64_t>());
  const auto* hash = reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>());
  at::Tensor passes = at::empty({hashes.numel()}, at::kBool);
  bool* out = passes.mutable_data_ptr<bool>();
  for (int64_t row = 0, rows = hashes.numel(); row < rows; ++row) out[row] = (~filter[hash[row] >> shift] & bits_of(hash[row])) == 0;
  return passes;
}

}  // namespace

REGISTER_BODY(Cpu, "key_filter_add", key_filter_add);
REGISTER_BODY(Cpu, "key_filter_test", key_filter_test);

}  // namespace pistachio::kernels::cpu
