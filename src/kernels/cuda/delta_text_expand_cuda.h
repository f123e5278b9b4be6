// The CUDA kernels of delta_text_expand, on raw device memory and a stream. Two steps, because the caller allocates the output in between.
// No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// The values of a page, in device memory: value i is the first prefixes[i] bytes of value i - 1, then bytes[from[i], to[i]).
struct DeltaText {
  const uint8_t* bytes;
  int64_t size;  // of bytes
  const int64_t* prefixes;
  const int64_t* from;
  const int64_t* to;
  int64_t count;
};

// Size of the array that both steps share.
int64_t delta_text_segments(int64_t count);
size_t delta_text_scratch_bytes(int64_t count);

// Checks prefixes and suffixes (failures report the value's index as their offset). Writes where each value ends in the output, the minimum
// prefix of each segment, and to *total the size of the output, or max_output + 1 if it would be larger. count > 0.
cudaError_t measure_delta_text(const DeltaText& text, int64_t max_output, int64_t* ends, int64_t* least_prefixes, void* scratch,
                               size_t scratch_bytes, int64_t* total, FailureWord failure, cudaStream_t stream);

// Writes the values back to back and where each begins. The text must have passed the checks.
cudaError_t expand_delta_text(const DeltaText& text, const int64_t* ends, const int64_t* least_prefixes, uint8_t* out, int64_t* begins,
                              cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
