// CUDA bodies of compress and count_true, on torch's current stream. The latter synchronizes, the former does not.
#include "kernels/cuda/row_selection_cuda.h"

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask, int64_t selected) {
  const KernelCall call(values);
  ScratchMemory scratch;
  at::Tensor kept = empty_like_rows(values, selected);
  if (selected == 0) return kept;
  select_values(value_kind_of(values), values.const_data_ptr(), mask.const_data_ptr<bool>(), values.size(0), kept.mutable_data_ptr(),
                scratch, call.stream());
  return kept;
}

int64_t count_true(const at::Tensor& mask) {
  const KernelCall call(mask);
  if (mask.numel() == 0) return 0;
  ScratchMemory scratch;
  int64_t count = 0;
  read_back(count_flags(mask.const_data_ptr<bool>(), mask.numel(), scratch, call.stream()), 1, &count, call.stream());
  return count;
}

}  // namespace

REGISTER_BODY(Cuda, "compress", compress);
REGISTER_BODY(Cuda, "count_true", count_true);

}  // namespace pistachio::kernels::cuda
