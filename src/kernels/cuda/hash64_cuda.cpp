// CUDA bodies of hash64, hash64_text and hash64_combine, on torch's current stream. No synchronization.
#include "kernels/cuda/hash64_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/text_column.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

const uint64_t* unsigned_words(const at::Tensor& words) {
  return reinterpret_cast<const uint64_t*>(words.const_data_ptr<int64_t>());
}

uint64_t* unsigned_words(at::Tensor& words) {
  return reinterpret_cast<uint64_t*>(words.mutable_data_ptr<int64_t>());
}

at::Tensor hash64(const at::Tensor& values) {
  const KernelCall call(values);
  at::Tensor hashes = empty_words(values, values.size(0));
  hash_values(value_kind_of(values), values.const_data_ptr(), values.size(0), unsigned_words(hashes), call.stream());
  return hashes;
}

at::Tensor hash64_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  const KernelCall call(bytes);
  at::Tensor hashes = empty_words(bytes, begins.size(0));
  hash_text(text_column(bytes, begins, ends), begins.size(0), unsigned_words(hashes), call.stream());
  return hashes;
}

at::Tensor hash64_combine(const at::Tensor& first, const at::Tensor& second) {
  const KernelCall call(first);
  at::Tensor hashes = empty_words(first, first.size(0));
  hash_combine(unsigned_words(first), unsigned_words(second), first.size(0), unsigned_words(hashes), call.stream());
  return hashes;
}

}  // namespace

REGISTER_BODY(Cuda, "hash64", hash64);
REGISTER_BODY(Cuda, "hash64_text", hash64_text);
REGISTER_BODY(Cuda, "hash64_combine", hash64_combine);

}  // namespace pistachio::kernels::cuda
