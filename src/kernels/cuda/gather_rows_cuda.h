// The CUDA kernel of gather_rows, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// out[i] = values[rows[i]] for `count` rows; zero where rows[i] is negative.
void gather_value_rows(ValueKind kind, const void* values, const int64_t* rows, int64_t count, void* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
