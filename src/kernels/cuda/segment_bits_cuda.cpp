// CUDA body of segment_bits, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_bits_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

void segment_bits(at::Tensor& bits, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, int64_t op,
                  const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  ScratchMemory scratch;
  fold_segment_bits(value_kind_of(values), static_cast<BitFoldOp>(op), bits.mutable_data_ptr(), seen.mutable_data_ptr<bool>(), seen.numel(),
                    ids.const_data_ptr<int64_t>(), values.const_data_ptr(), mask_of(validity), ids.numel(), scratch, call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "segment_bits", segment_bits);

}  // namespace pistachio::kernels::cuda
