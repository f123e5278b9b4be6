// The CUDA kernels of segment_count, segment_sum and segment_sum_float, on raw device memory and a stream. No torch headers: nvcc compiles
// this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

void count_segments(int64_t* counts, int64_t groups, const int64_t* ids, const bool* valid, int64_t rows, cudaStream_t stream);
// Integer kinds and Wide; sums are modulo 2^128.
void sum_segments(ValueKind kind, int64_t* sums, int64_t groups, const int64_t* ids, const void* values, const bool* valid, int64_t rows,
                  cudaStream_t stream);
// Float and Double.
void sum_float_segments(ValueKind kind, double* sums, int64_t groups, const int64_t* ids, const void* values, const bool* valid,
                        int64_t rows, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
