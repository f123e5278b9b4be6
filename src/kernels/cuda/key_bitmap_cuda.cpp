// CUDA bodies of key_bitmap_add and key_bitmap_test, on torch's current stream. No synchronization.
#include "kernels/cuda/key_bitmap_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

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

REGISTER_BODY(Cuda, "key_bitmap_add", key_bitmap_add);
REGISTER_BODY(Cuda, "key_bitmap_test", key_bitmap_test);

}  // namespace pistachio::kernels::cuda
