// Text compaction on the GPU, driven by the output: each thread fills 16 bytes of it, whichever values they belong to, so that work is
// balanced for any value lengths. Two threads of a block find the values of its first and last byte, the others search between those.
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/text_compact_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int thread_bytes = 16;
constexpr int64_t block_bytes = int64_t{block_threads} * thread_bytes;

__global__ void __launch_bounds__(block_threads)
    lengths_kernel(const int64_t* __restrict__ begins, const int64_t* __restrict__ ends, int64_t count, int64_t* __restrict__ offsets) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i == 0) offsets[0] = 0;
  if (i < count) offsets[i + 1] = ends[i] - begins[i];
}

// The last of the values low .. high - 1 that starts at or before `position`. It contains that byte: only empty values can start there
// before it.
__device__ int64_t find_value(const int64_t* offsets, int64_t low, int64_t high, int64_t position) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (offsets[middle] <= position ? low : high) = middle;
  }
  return low;
}

__global__ void __launch_bounds__(block_threads)
    copy_kernel(const uint8_t* __restrict__ bytes, const int64_t* __restrict__ begins, const int64_t* __restrict__ offsets, int64_t count,
                int64_t room, uint8_t* __restrict__ out) {
  __shared__ int64_t bounds[2];  // values of the block's first and last byte
  const int64_t total = min(room, offsets[count]);
  const int64_t block_first = static_cast<int64_t>(blockIdx.x) * block_bytes;
  if (block_first >= total) return;
  const int64_t block_last = (block_first + block_bytes < total ? block_first + block_bytes : total) - 1;
  if (threadIdx.x < 2) bounds[threadIdx.x] = find_value(offsets, 0, count, threadIdx.x == 0 ? block_first : block_last);
  __syncthreads();
  const int64_t first = block_first + static_cast<int64_t>(threadIdx.x) * thread_bytes;
  if (first >= total) return;
  const int64_t last_value = bounds[1];
  int64_t value = find_value(offsets, bounds[0], last_value + 1, first);
  int64_t next = offsets[value + 1], shift = begins[value] - offsets[value];
  uint32_t words[thread_bytes / 4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < thread_bytes; ++i) {
    const int64_t position = first + i;
    if (position < total) {
      if (position >= next) {
        ++value;
        if (offsets[value + 1] <= position) value = find_value(offsets, value, last_value + 1, position);  // skips empty values
        next = offsets[value + 1];
        shift = begins[value] - offsets[value];
      }
      words[i / 4] |= static_cast<uint32_t>(bytes[position + shift]) << (i % 4 * 8);
    }
  }
  if (first + thread_bytes <= total) {
    *reinterpret_cast<uint4*>(out + first) = make_uint4(words[0], words[1], words[2], words[3]);
  } else {
#pragma unroll
    for (int i = 0; i < thread_bytes; ++i) {
      if (first + i < total) out[first + i] = static_cast<uint8_t>(words[i / 4] >> (i % 4 * 8));
    }
  }
}

unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

size_t text_offsets_scratch_bytes(int64_t count) {
  size_t bytes = 0;
  int64_t* lengths = nullptr;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, lengths, lengths, count, nullptr);
  return bytes;
}

cudaError_t sum_text_lengths(const int64_t* begins, const int64_t* ends, int64_t count, int64_t* offsets, void* scratch,
                             size_t scratch_bytes, cudaStream_t stream) {
  lengths_kernel<<<blocks_for(count, block_threads), block_threads, 0, stream>>>(begins, ends, count, offsets);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return cub::DeviceScan::InclusiveSum(scratch, scratch_bytes, offsets + 1, offsets + 1, count, stream);
}

cudaError_t copy_text(const uint8_t* bytes, const int64_t* begins, const int64_t* offsets, int64_t count, int64_t room, uint8_t* out,
                      cudaStream_t stream) {
  if (room == 0) return cudaSuccess;
  copy_kernel<<<blocks_for(room, block_bytes), block_threads, 0, stream>>>(bytes, begins, offsets, count, room, out);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
