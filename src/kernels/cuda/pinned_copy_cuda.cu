#include "kernels/cuda/pinned_copy_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t block_threads = 256;

__global__ void copy_pinned_kernel(const uint8_t* source, uint8_t* target, int64_t bytes) {
  const int64_t begin = (static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x) * 16;
  if (begin + 16 <= bytes) {
    *reinterpret_cast<uint4*>(target + begin) = *reinterpret_cast<const uint4*>(source + begin);
  } else {
    for (int64_t i = begin; i < bytes; ++i) target[i] = source[i];
  }
}

}  // namespace

cudaError_t copy_pinned(const void* pinned, void* target, int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const int64_t blocks = (bytes + block_threads * 16 - 1) / (block_threads * 16);
  copy_pinned_kernel<<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(static_cast<const uint8_t*>(pinned),
                                                                                  static_cast<uint8_t*>(target), bytes);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
