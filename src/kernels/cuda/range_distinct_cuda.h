// The CUDA kernels of range_distinct, on raw device memory and a stream. No torch headers: nvcc compiles this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// For ranges of one part. ids in [0, values); begins, ends, out: [count]. Less than 2^32 rows.
void count_distinct(const int64_t* ids, const bool* valid, int64_t rows, int64_t values, const int64_t* begins, const int64_t* ends,
                    int64_t count, int64_t* out, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
