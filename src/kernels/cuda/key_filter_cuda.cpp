// CUDA bodies of key_filter_add and key_filter_test, on torch's current stream. No synchronization.
#include "kernels/cuda/key_filter_cuda.h"

#include <bit>

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

// The argument checks ensure that the size is a power of two, at least 2.
int size_bits(const at::Tensor& words) {
  return std::countr_zero(static_cast<uint64_t>(words.size(0)));
}

void key_filter_add(at::Tensor& words, const at::Tensor& hashes) {
  const KernelCall call(hashes);
  add_to_filter(words.mutable_data_ptr<int64_t>(), size_bits(words), hashes.const_data_ptr<int64_t>(), hashes.size(0), call.stream());
}

at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes) {
  const KernelCall call(hashes);
  at::Tensor result = empty_flags(hashes, hashes.size(0));
  test_filter(words.const_data_ptr<int64_t>(), size_bits(words), hashes.const_data_ptr<int64_t>(), hashes.size(0),
              result.mutable_data_ptr<bool>(), call.stream());
  return result;
}

}  // namespace

REGISTER_BODY(Cuda, "key_filter_add", key_filter_add);
REGISTER_BODY(Cuda, "key_filter_test", key_filter_test);

}  // namespace pistachio::kernels::cuda
