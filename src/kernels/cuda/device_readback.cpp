#include "kernels/cuda/device_readback.h"

#include <ATen/ATen.h>

#include <atomic>
#include <cstring>

#include "kernels/cuda/cuda_status.h"

namespace pistachio::kernels::cuda {

namespace {
std::atomic<int64_t> readbacks = 0;
}

void read_back(const int64_t* device_words, int64_t count, int64_t* host_words, cudaStream_t stream) {
  // From torch's cache of pinned memory. The block is idle again when it is released: the copy has ended by then.
  const at::Tensor pinned = at::empty({count}, at::TensorOptions(at::kLong).pinned_memory(true));
  const size_t bytes = static_cast<size_t>(count) * sizeof(int64_t);
  check_cuda(cudaMemcpyAsync(pinned.mutable_data_ptr(), device_words, bytes, cudaMemcpyDeviceToHost, stream));
  readbacks.fetch_add(1, std::memory_order_relaxed);
  check_cuda(cudaStreamSynchronize(stream));
  std::memcpy(host_words, pinned.const_data_ptr(), bytes);
}

int64_t readback_count() {
  return readbacks.load(std::memory_order_relaxed);
}

}  // namespace pistachio::kernels::cuda
