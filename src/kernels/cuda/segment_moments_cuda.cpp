// CUDA bodies of segment_moments and moments_merge, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_moments_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t most_groups = (int64_t{1} << 32) - 2;  // sort keys have 32 bits

void segment_moments(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  ENSURE_LE(moments.size(0), most_groups);
  ScratchMemory scratch;
  add_values_to_moments(value_kind_of(values), static_cast<Moments*>(moments.mutable_data_ptr()), moments.size(0),
                        ids.const_data_ptr<int64_t>(), values.const_data_ptr(), mask_of(validity), ids.numel(), scratch, call.stream());
}

void moments_merge(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& other) {
  const KernelCall call(other);
  ENSURE_LE(moments.size(0), most_groups);
  ScratchMemory scratch;
  merge_moments(static_cast<Moments*>(moments.mutable_data_ptr()), moments.size(0), ids.const_data_ptr<int64_t>(),
                static_cast<const Moments*>(other.const_data_ptr()), ids.numel(), scratch, call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "segment_moments", segment_moments);
REGISTER_BODY(Cuda, "moments_merge", moments_merge);

}  // namespace pistachio::kernels::cuda
