// The CUDA kernels of range_extreme, range_bits, range_sum_float and range_moments, on raw device memory and a stream. No torch headers:
// nvcc compiles this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/bit_fold_op.h"
#include "kernels/cuda/row_ranges.h"
#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// out [ranges.count]: the first row with the extreme word, or -1.
void fold_extremes(const int64_t* words, const bool* valid, int64_t rows, const RowRanges& ranges, bool take_max, int64_t* out,
                   ScratchMemory& scratch, cudaStream_t stream);
// out [ranges.count].
void fold_bits(const int64_t* words, const bool* valid, int64_t rows, const RowRanges& ranges, BitFoldOp op, int64_t* out,
               ScratchMemory& scratch, cudaStream_t stream);
// Float and Double. out [ranges.count].
void fold_float_sums(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, double* out,
                     ScratchMemory& scratch, cudaStream_t stream);
// Float and Double. out [ranges.count, 3]: count, mean and sum of squared distances.
void fold_moments(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, double* out,
                  ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
