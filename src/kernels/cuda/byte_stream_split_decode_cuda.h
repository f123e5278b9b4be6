// The CUDA kernel of byte_stream_split_decode, for raw device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Consecutive rows of one page, the work of one block.
struct StreamSlice {
  int64_t source;  // offset in the bytes of byte 0 of the first row
  int64_t stride;  // bytes from one stream to the next: the values stored in the page
  int64_t target;  // first row of the output
  int64_t rows;
};

// Writes out[target + i][j] = bytes[source + i + j * stride] for each slice. `slices` is device memory. Returns the error of the launch.
cudaError_t join_byte_streams(const uint8_t* bytes, const StreamSlice* slices, int64_t slice_count, int64_t width, uint8_t* out,
                              cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
