// CUDA body of segment_bounds, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_bounds_cuda.h"

#include <tuple>

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts) {
  const KernelCall call(starts);
  at::Tensor begins = empty_words(starts, starts.numel()), ends = empty_words(starts, starts.numel());
  ScratchMemory scratch;
  find_segment_bounds(starts.const_data_ptr<bool>(), starts.numel(), begins.mutable_data_ptr<int64_t>(), ends.mutable_data_ptr<int64_t>(),
                      scratch, call.stream());
  return {begins, ends};
}

}  // namespace

REGISTER_BODY(Cuda, "segment_bounds", segment_bounds);

}  // namespace pistachio::kernels::cuda
