// The CUDA kernel of segment_bounds, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// starts, begins, ends: [rows].
void find_segment_bounds(const bool* starts, int64_t rows, int64_t* begins, int64_t* ends, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
