// The CUDA kernels of rle_decode and definition_levels_decode, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// Consecutive values of one RLE/bit-packed stream, processed by one block. A large page is cut into several parts; each skips the runs
// before it, which is cheap.
struct RunPart {
  int64_t begin;      // the stream is bytes[begin, end)
  int64_t end;
  int64_t bit_width;  // 0..32; 0: all values are 0 and the bytes are ignored
  int64_t max_value;  // a greater decoded value is an error
  int64_t skip;       // values to skip, unchecked
  int64_t count;      // values to decode after the skipped ones
  int64_t hidden;     // definition levels: leading decoded values that are counted and checked but not written
  int64_t target;     // output row of the first written value
  int64_t page;       // index for counts and errors
  int64_t base;       // codes: added to each value
  bool ends_page;     // a repeated run that reaches 8 or more values past the part is an error
};

// Decodes all parts. `parts` is device memory. Returns the launch error.
cudaError_t decode_codes(const uint8_t* bytes, const RunPart* parts, int64_t part_count, int32_t* out, FailureWord failure,
                         cudaStream_t stream);

// Writes value == max_value and adds the number of matches to counts[page][0] (hidden values) and counts[page][1] (written ones).
cudaError_t decode_levels(const uint8_t* bytes, const RunPart* parts, int64_t part_count, uint8_t* out, int64_t* counts,
                          FailureWord failure, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
