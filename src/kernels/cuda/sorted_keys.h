// Stable radix sorts of (key, value) pairs and prefix sums with CUB, on raw device memory and a stream. Each combination of types is
// compiled once, in sorted_keys.cu. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// Sorts stably by bits [begin_bit, end_bit) of the keys, ascending. Does not modify its inputs.
void sort_pairs(const uint32_t* keys, uint32_t* sorted_keys, const int64_t* values, int64_t* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream);
void sort_pairs(const uint32_t* keys, uint32_t* sorted_keys, const double* values, double* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream);
void sort_pairs(const uint64_t* keys, uint64_t* sorted_keys, const int64_t* values, int64_t* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream);

// Bits needed for numbers in [0, most].
int bits_of(uint64_t most);

// words[i] = i.
void fill_row_numbers(int64_t* words, int64_t rows, cudaStream_t stream);

// For ascending keys: offsets[k] is the first row whose key is at least k, for every k in [0, segments].
void find_segments(const uint32_t* sorted_keys, int64_t rows, int64_t segments, int64_t* offsets, cudaStream_t stream);

// In place: words[i] = sum of words[0 .. i], or of words[0 .. i - 1].
void sum_inclusive(int64_t* words, int64_t count, ScratchMemory& scratch, cudaStream_t stream);
void sum_exclusive(int64_t* words, int64_t count, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
