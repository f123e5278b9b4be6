// CUDA body of segment_extreme, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_extreme_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  ScratchMemory scratch;
  update_extremes(value_kind_of(values), best.mutable_data_ptr(), seen.mutable_data_ptr<bool>(), seen.size(0),
                  ids.const_data_ptr<int64_t>(), values.const_data_ptr(), take_max, mask_of(validity), ids.numel(), scratch, call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "segment_extreme", segment_extreme);

}  // namespace pistachio::kernels::cuda
