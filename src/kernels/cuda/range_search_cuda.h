// The CUDA kernel of range_search, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// bounds, begins, ends, places: [count].
void search_ranges(const int64_t* keys, const int64_t* bounds, const int64_t* begins, const int64_t* ends, bool after_equal, int64_t count,
                   int64_t* places, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
