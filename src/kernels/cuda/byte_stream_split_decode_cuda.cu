// BYTE_STREAM_SPLIT on the GPU: one block per slice. Values of 2, 4 or 8 bytes are assembled in a register, one row per thread: a warp
// loads consecutive bytes of one stream and stores consecutive values. Other widths are copied byte by byte in output order.
#include "kernels/cuda/byte_stream_split_decode_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;

template <typename Value>
__global__ void __launch_bounds__(block_threads)
    join_values_kernel(const uint8_t* __restrict__ bytes, const StreamSlice* __restrict__ slices, Value* __restrict__ out) {
  const StreamSlice slice = slices[blockIdx.x];
  for (int64_t row = threadIdx.x; row < slice.rows; row += block_threads) {
    const uint8_t* source = bytes + slice.source + row;
    uint64_t value = 0;
#pragma unroll
    for (int byte = 0; byte < static_cast<int>(sizeof(Value)); ++byte) {
      value |= static_cast<uint64_t>(source[byte * slice.stride]) << (8 * byte);
    }
    out[slice.target + row] = static_cast<Value>(value);
  }
}

__global__ void __launch_bounds__(block_threads)
    join_bytes_kernel(const uint8_t* __restrict__ bytes, const StreamSlice* __restrict__ slices, int64_t width, uint8_t* __restrict__ out) {
  const StreamSlice slice = slices[blockIdx.x];
  for (int64_t i = threadIdx.x; i < slice.rows * width; i += block_threads) {
    const int64_t row = i / width, byte = i - row * width;
    out[slice.target * width + i] = bytes[slice.source + row + byte * slice.stride];
  }
}

}  // namespace

cudaError_t join_byte_streams(const uint8_t* bytes, const StreamSlice* slices, int64_t slice_count, int64_t width, uint8_t* out,
                              cudaStream_t stream) {
  if (slice_count == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>(slice_count);
  switch (width) {
    case 2: join_values_kernel<<<blocks, block_threads, 0, stream>>>(bytes, slices, reinterpret_cast<uint16_t*>(out)); break;
    case 4: join_values_kernel<<<blocks, block_threads, 0, stream>>>(bytes, slices, reinterpret_cast<uint32_t*>(out)); break;
    case 8: join_values_kernel<<<blocks, block_threads, 0, stream>>>(bytes, slices, reinterpret_cast<uint64_t*>(out)); break;
    default: join_bytes_kernel<<<blocks, block_threads, 0, stream>>>(bytes, slices, width, out);
  }
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
