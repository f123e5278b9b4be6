// The CUDA kernels of key_bitmap_add and key_bitmap_test, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Integer kinds. words: the bitmap; values, passes: [rows].
void add_to_bitmap(ValueKind kind, int64_t* words, const void* values, int64_t rows, int64_t least, cudaStream_t stream);
void test_bitmap(ValueKind kind, const int64_t* words, int64_t word_count, const void* values, int64_t rows, int64_t least, bool* passes,
                 cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
