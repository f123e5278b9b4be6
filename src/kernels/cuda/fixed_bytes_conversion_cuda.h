// The CUDA kernels of decimal_from_bytes, int96_to_micros and float16_to_float, on raw device memory and a stream. Failures report the row
// as their offset. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// Big-endian two's complement of `width` bytes per row to `words` (1 or 2) int64 per value, low word first. Returns the launch error.
cudaError_t convert_decimals(const uint8_t* bytes, int64_t rows, int64_t width, int words, int64_t* out, FailureWord failure,
                             cudaStream_t stream);

// Twelve bytes per row: nanoseconds of the day, Julian day.
cudaError_t convert_int96(const uint8_t* bytes, int64_t rows, int64_t* out, FailureWord failure, cudaStream_t stream);

// Two bytes per row.
cudaError_t convert_float16(const uint8_t* bytes, int64_t rows, float* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
