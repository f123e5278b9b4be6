// CUDA body of segment_bounds, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_bounds_cuda.h"

#include <torch/library.h>

#include <tuple>

#include "kernels/cuda/kernel_call.h"

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

TORCH_LIBRARY_IMPL(pistachio, CUDA, library) {
  library.impl("segment_bounds", TORCH_FN(segment_bounds));
}

}  // namespace pistachio::kernels::cuda
