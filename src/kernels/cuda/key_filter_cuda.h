// The CUDA kernels of key_filter_add and key_filter_test, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// The filter has 2^size_bits words, size_bits in [1, 63].
void add_to_filter(int64_t* words, int size_bits, const int64_t* hashes, int64_t rows, cudaStream_t stream);
void test_filter(const int64_t* words, int size_bits, const int64_t* hashes, int64_t rows, bool* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
