// The CUDA kernels of delta_text_expand, for raw device memory and a stream. Two steps, as the caller has to allocate the output in
// between. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// The n values of a page, in device memory: value i is the first prefixes[i] bytes of value i - 1, then bytes[from[i], to[i]).
struct DeltaText {
  const uint8_t* bytes;
  int64_t size;  // of bytes
  const int64_t* prefixes;
  const int64_t* from;
  const int64_t* to;
  int64_t count;
};

// Elements of the array that both steps share.
int64_t delta_text_segments(int64_t count);
size_t delta_text_scratch_bytes(int64_t count);

// Checks prefixes and suffixes (failures name the value as their offset), writes where each value ends in the output, the least prefix of
// each segment, and to *total how many bytes the output has, or max_output + 1 if it would have more. count > 0.
cudaError_t measure_delta_text(const DeltaText& text, int64_t max_output, int64_t* ends, int64_t* least_prefixes, void* scratch,
                               size_t scratch_bytes, int64_t* total, FailureWord failure, cudaStream_t stream);

// Writes the values back to back and where each begins, for text that passed the checks.
cudaError_t expand_delta_text(const DeltaText& text, const int64_t* ends, const int64_t* least_prefixes, uint8_t* out, int64_t* begins,
                              cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
