#include "kernels/cuda/device_readback.h"

#include <cstring>

#include "kernels/cuda/cuda_status.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

void read_back(const int64_t* device_words, int64_t count, int64_t* host_words, cudaStream_t stream) {
  // From torch's cache of pinned memory. The copy has finished when the block is released, so it can be reused at once.
  const at::Tensor pinned = at::empty({count}, at::TensorOptions(at::kLong).pinned_memory(true));
  const size_t bytes = static_cast<size_t>(count) * sizeof(int64_t);
  check_cuda(cudaMemcpyAsync(pinned.mutable_data_ptr(), device_words, bytes, cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  std::memcpy(host_words, pinned.const_data_ptr(), bytes);
}

}  // namespace pistachio::kernels::cuda
