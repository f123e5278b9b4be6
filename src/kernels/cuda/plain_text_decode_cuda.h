// The CUDA kernel of plain_text_decode, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// One page, processed by one block.
struct TextPage {
  int64_t begin;  // the values are bytes[begin, end)
  int64_t end;
  int64_t skip;
  int64_t take;
  int64_t target;  // output row of the first taken value
};

// Writes where in `bytes` each taken value begins and ends. `pages` is device memory. Returns the launch error.
cudaError_t find_text(const uint8_t* bytes, const TextPage* pages, int64_t page_count, int64_t* begins, int64_t* ends, FailureWord failure,
                      cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
