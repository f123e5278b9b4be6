// The CUDA kernel of dictionary_gather, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Launches the lookup on `stream`. value_bytes is 1, 2, 4, 8 or 16, and values are aligned to their size; every code must be inside the
// dictionary. Returns the launch error.
cudaError_t gather_values(const void* dictionary, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
