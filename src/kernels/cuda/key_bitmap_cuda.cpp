// CUDA bodies of key_bitmap_add and key_bitmap_test, on torch's current stream. No synchronization.
#include "kernels/cuda/key_bitmap_cuda.h"

#include <torch/library.h>

#include "kernels/cuda/kernel_call.h"

namespace pistachio::kernels::cuda {

namespace {

void key_bitmap_add(at::Tensor& words, const at::Tensor& values, int64_t least) {
  const KernelCall call(values);
  add_to_bitmap(value_kind_of(values), words.mutable_data_ptr<int64_t>(), values.const_data_ptr(), values.numel(), least, call.stream());
}

at::Tensor key_bitmap_test(const at::Tensor& words, const at::Tensor& values, int64_t least) {
  const KernelCall call(values);
  at::Tensor passes = empty_flags(values, values.numel());
  test_bitmap(value_kind_of(values), words.const_data_ptr<int64_t>(), words.numel(), values.const_data_ptr(), values.numel(), least,
              passes.mutable_data_ptr<bool>(), call.stream());
  return passes;
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CUDA, library) {
  library.impl("key_bitmap_add", TORCH_FN(key_bitmap_add));
  library.impl("key_bitmap_test", TORCH_FN(key_bitmap_test));
}

}  // namespace pistachio::kernels::cuda
