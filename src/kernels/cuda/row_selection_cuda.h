// The CUDA kernels of compress and count_true, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// The number of true flags, in device memory of `scratch`.
int64_t* count_flags(const bool* flags, int64_t rows, ScratchMemory& scratch, cudaStream_t stream);
// Copies the values whose flag is true to `out`, which must have room for all of them.
void select_values(ValueKind kind, const void* values, const bool* flags, int64_t rows, void* out, ScratchMemory& scratch,
                   cudaStream_t stream);
// The same for row numbers: writes the rows whose flag is true, ascending.
void select_rows(const bool* flags, int64_t rows, int64_t* out, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
