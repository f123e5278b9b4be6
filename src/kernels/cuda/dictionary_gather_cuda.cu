// Dictionary lookup on the GPU: four codes per thread with one 16-byte load, values through the read-only cache, a grid-stride loop for any
// row count.
#include <algorithm>

#include "kernels/cuda/dictionary_gather_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int threads_per_block = 256;
constexpr int rows_per_thread = 4;
constexpr int64_t max_blocks = 65536;  // the grid-stride loop covers further rows

template <typename Value>
__global__ void gather_kernel(const Value* __restrict__ dictionary, const int32_t* __restrict__ codes, int64_t rows,
                              Value* __restrict__ out) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x * rows_per_thread;
  const bool aligned = reinterpret_cast<uintptr_t>(codes) % sizeof(int4) == 0;  // column slices may start anywhere
  for (int64_t row = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * rows_per_thread; row < rows; row += stride) {
    if (aligned && row + rows_per_thread <= rows) {
      const int4 four = *reinterpret_cast<const int4*>(codes + row);
      out[row] = __ldg(dictionary + four.x);
      out[row + 1] = __ldg(dictionary + four.y);
      out[row + 2] = __ldg(dictionary + four.z);
      out[row + 3] = __ldg(dictionary + four.w);
    } else {
      for (int64_t i = row; i < rows && i < row + rows_per_thread; ++i) out[i] = __ldg(dictionary + codes[i]);
    }
  }
}

template <typename Value>
cudaError_t launch(const void* dictionary, const int32_t* codes, int64_t rows, void* out, cudaStream_t stream) {
  constexpr int64_t rows_per_block = int64_t{threads_per_block} * rows_per_thread;
  const int64_t blocks = std::min<int64_t>(max_blocks, (rows + rows_per_block - 1) / rows_per_block);
  gather_kernel<<<static_cast<unsigned>(blocks), threads_per_block, 0, stream>>>(static_cast<const Value*>(dictionary), codes, rows,
                                                                                 static_cast<Value*>(out));
  return cudaGetLastError();
}

}  // namespace

cudaError_t gather_values(const void* dictionary, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  switch (value_bytes) {
    case 1: return launch<unsigned char>(dictionary, codes, rows, out, stream);
    case 2: return launch<unsigned short>(dictionary, codes, rows, out, stream);
    case 4: return launch<unsigned int>(dictionary, codes, rows, out, stream);
    case 8: return launch<unsigned long long>(dictionary, codes, rows, out, stream);
    case 16: return launch<uint4>(dictionary, codes, rows, out, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace pistachio::kernels::cuda
