// Grid-stride loops over rows, for .cu files. A block takes tiles of threads_per_block * rows_per_thread rows; the rows of a thread are
// threads_per_block apart, so accesses coalesce for any alignment and type. Row numbers have 64 bits throughout.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/cuda_status.h"

namespace pistachio::kernels::cuda {

constexpr int threads_per_block = 256;
constexpr int rows_per_thread = 4;
constexpr int rows_per_tile = threads_per_block * rows_per_thread;
constexpr int64_t max_blocks = int64_t{1} << 16;

// out[row] = value(row). Each thread issues all its loads before its stores.
template <typename Out, typename Value>
__global__ void __launch_bounds__(threads_per_block) map_rows_kernel(int64_t rows, Out* __restrict__ out, Value value) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * rows_per_tile;
  for (int64_t tile = static_cast<int64_t>(blockIdx.x) * rows_per_tile; tile < rows; tile += stride) {
    const int64_t first = tile + threadIdx.x;
    if (tile + rows_per_tile <= rows) {
      Out results[rows_per_thread];
#pragma unroll
      for (int i = 0; i < rows_per_thread; ++i) results[i] = value(first + i * threads_per_block);
#pragma unroll
      for (int i = 0; i < rows_per_thread; ++i) out[first + i * threads_per_block] = results[i];
    } else {
      for (int64_t row = first; row < rows; row += threads_per_block) out[row] = value(row);
    }
  }
}

// Calls body(row) for every row, in any order.
template <typename Body>
__global__ void __launch_bounds__(threads_per_block) for_rows_kernel(int64_t rows, Body body) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) body(row);
}

inline unsigned blocks_for(int64_t rows, int64_t rows_per_block) {
  return static_cast<unsigned>(std::min(max_blocks, (rows + rows_per_block - 1) / rows_per_block));
}

template <typename Out, typename Value>
void map_rows(int64_t rows, Out* out, const Value& value, cudaStream_t stream) {
  if (rows == 0) return;
  map_rows_kernel<<<blocks_for(rows, rows_per_tile), threads_per_block, 0, stream>>>(rows, out, value);
  check_cuda(cudaGetLastError());
}

template <typename Body>
void for_rows(int64_t rows, const Body& body, cudaStream_t stream) {
  if (rows == 0) return;
  for_rows_kernel<<<blocks_for(rows, threads_per_block), threads_per_block, 0, stream>>>(rows, body);
  check_cuda(cudaGetLastError());
}

}  // namespace pistachio::kernels::cuda
