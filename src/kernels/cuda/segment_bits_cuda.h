// The CUDA kernels of segment_bits, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/bit_fold_op.h"
#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Integer kinds. bits, seen: the state, [groups]; `valid` may be null.
void fold_segment_bits(ValueKind kind, BitFoldOp op, void* bits, bool* seen, int64_t groups, const int64_t* ids, const void* values,
                       const bool* valid, int64_t rows, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
