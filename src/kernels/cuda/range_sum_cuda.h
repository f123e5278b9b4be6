// The CUDA kernels of range_sum, on raw device memory and a stream. No torch headers: nvcc compiles this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/row_ranges.h"
#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Integer kinds up to 64 bits; values of up to 32 bits only for at most 2^32 rows. `sums` [ranges.count].
void sum_ranges(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, WideWords* sums,
                ScratchMemory& scratch, cudaStream_t stream);
// Two-word values. Reports the ranges whose sum does not fit 128 bits.
void sum_wide_ranges(const WideWords* values, const bool* valid, int64_t rows, const RowRanges& ranges, WideWords* sums,
                     const DeviceErrorFlag& errors, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
