// PLAIN pages on the GPU: one block per slice; numbers are copied, bits expanded to bytes.
#include "kernels/cuda/copy_bytes.cuh"
#include "kernels/cuda/plain_decode_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;

__global__ void __launch_bounds__(block_threads)
    copy_slices_kernel(const uint8_t* __restrict__ bytes, const CopySlice* __restrict__ slices, uint8_t* __restrict__ out) {
  const CopySlice slice = slices[blockIdx.x];
  copy_bytes(out + slice.target, bytes + slice.source, slice.count, static_cast<int>(threadIdx.x), block_threads);
}

__global__ void __launch_bounds__(block_threads)
    expand_bits_kernel(const uint8_t* __restrict__ bytes, const CopySlice* __restrict__ slices, uint8_t* __restrict__ out) {
  const CopySlice slice = slices[blockIdx.x];
  for (int64_t i = threadIdx.x; i < slice.count; i += block_threads) {
    const int64_t bit = slice.source + i;
    out[slice.target + i] = bytes[bit >> 3] >> (bit & 7) & 1;
  }
}

}  // namespace

cudaError_t copy_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream) {
  if (slice_count == 0) return cudaSuccess;
  copy_slices_kernel<<<static_cast<unsigned>(slice_count), block_threads, 0, stream>>>(bytes, slices, out);
  return cudaGetLastError();
}

cudaError_t expand_bit_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream) {
  if (slice_count == 0) return cudaSuccess;
  expand_bits_kernel<<<static_cast<unsigned>(slice_count), block_threads, 0, stream>>>(bytes, slices, out);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
