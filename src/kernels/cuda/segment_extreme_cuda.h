// The CUDA kernel of segment_extreme, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// `best` [groups] has the type of `kind`; `valid` may be null.
void update_extremes(ValueKind kind, void* best, bool* seen, int64_t groups, const int64_t* ids, const void* values, bool take_max,
                     const bool* valid, int64_t rows, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
