// The CUDA kernel of delta_binary_decode, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// One page, processed by one block.
struct DeltaPage {
  int64_t begin;  // the stream is bytes[begin, end)
  int64_t end;
  int64_t skip;
  int64_t take;
  int64_t target;  // output row of the first taken value
  int64_t page;    // index for errors and stream ends
};

// Writes the taken values, and the end offset of the page's stream to stream_ends[page]. A page that takes nothing is still checked to its
// end. `pages` is device memory. Returns the launch error.
cudaError_t decode_deltas(const uint8_t* bytes, const DeltaPage* pages, int64_t page_count, bool is_32_bit, int64_t* out,
                          int64_t* stream_ends, FailureWord failure, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
