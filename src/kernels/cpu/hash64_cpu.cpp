// CPU bodies of hash64, hash64_text and hash64_combine.
#include "kernels/cpu/hash64_simd.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

uint64_t* words_of(at::Tensor& hashes) {
  return reinterpret_cast<uint64_t*>(hashes.mutable_data_ptr<int64_t>());
}

at::Tensor hash64(const at::Tensor& values) {
  at::Tensor hashes = at::empty({values.size(0)}, at::kLong);
  if (is_wide(values)) {
    hash_wide(values.const_data_ptr<int64_t>(), values.size(0), words_of(hashes));
  } else {
    hash_values(value_kind_of(values), values.const_data_ptr(), values.size(0), words_of(hashes));
  }
  return hashes;
}

at::Tensor hash64_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  at::Tensor hashes = at::empty({begins.size(0)}, at::kLong);
  hash_text(bytes.const_data_ptr<uint8_t>(), bytes.numel(), begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>(),
            begins.size(0), words_of(hashes));
  return hashes;
}

at::Tensor hash64_combine(const at::Tensor& first, const at::Tensor& second) {
  at::Tensor hashes = at::empty({first.size(0)}, at::kLong);
  hash_combine(reinterpret_cast<const uint64_t*>(first.const_data_ptr<int64_t>()),
               reinterpret_cast<const uint64_t*>(second.const_data_ptr<int64_t>()), first.size(0), words_of(hashes));
  return hashes;
}

}  // namespace

REGISTER_BODY(Cpu, "hash64", hash64);
REGISTER_BODY(Cpu, "hash64_text", hash64_text);
REGISTER_BODY(Cpu, "hash64_combine", hash64_combine);

}  // namespace pistachio::kernels::cpu
