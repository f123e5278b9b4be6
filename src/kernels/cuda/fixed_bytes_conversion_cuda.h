// The CUDA kernels of decimal_from_bytes, int96_to_micros and float16_to_float, for raw device memory and a stream. Failures name the row
// as their offset. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// Big-endian two's complement of `width` bytes a row; `words` (1 or 2) int64 a value, low word first. Returns the error of the launch.
cudaError_t convert_decimals(const uint8_t* bytes, int64_t rows, int64_t width, int words, int64_t* out, FailureWord failure,
                             cudaStream_t stream);

// Twelve bytes a row: nanoseconds of the day, Julian day.
cudaError_t convert_int96(const uint8_t* bytes, int64_t rows, int64_t* out, FailureWord failure, cudaStream_t stream);

// Two bytes a row.
cudaError_t convert_float16(const uint8_t* bytes, int64_t rows, float* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
