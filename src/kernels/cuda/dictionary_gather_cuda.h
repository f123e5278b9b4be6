// The CUDA kernel of dictionary_gather, for raw device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Starts the look-up on `stream`. Values have value_bytes 1, 2, 4, 8 or 16 and lie at addresses that are multiples of their size; every
// code lies inside the dictionary. Returns the error of the launch.
cudaError_t gather_values(const void* dictionary, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
