// The CUDA kernels of segment_moments and moments_merge, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

struct Moments {
  double count, mean, m2;
};

// Fewer than 2^32 - 1 groups. `kind` is Float or Double; `valid` may be null.
void add_values_to_moments(ValueKind kind, Moments* moments, int64_t groups, const int64_t* ids, const void* values, const bool* valid,
                           int64_t rows, ScratchMemory& scratch, cudaStream_t stream);
void merge_moments(Moments* moments, int64_t groups, const int64_t* ids, const Moments* other, int64_t rows, ScratchMemory& scratch,
                   cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
