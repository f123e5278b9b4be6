// The CUDA kernel of byte_stream_split_decode, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Consecutive rows of one page, processed by one block.
struct StreamSlice {
  int64_t source;  // offset in `bytes` of the first row's byte 0
  int64_t stride;  // bytes between streams: the number of values stored in the page
  int64_t target;  // output row of the first value
  int64_t rows;
};

// Writes out[target + i][j] = bytes[source + i + j * stride] for each slice. `slices` is device memory. Returns the launch error.
cudaError_t join_byte_streams(const uint8_t* bytes, const StreamSlice* slices, int64_t slice_count, int64_t width, uint8_t* out,
                              cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
