// The CUDA kernels of segment_sketch, sketch_merge and sketch_sums, on raw device memory and a stream. No torch headers: nvcc compiles this
// too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Same values as in kernels/ops/segment_sketch.h, which nvcc cannot compile.
constexpr int sketch_bits = 12;
constexpr int64_t sketch_size = int64_t{1} << sketch_bits;
constexpr int greatest_rank = 50;

// registers: [sketches, sketch_size]; ids, hashes: [rows].
void add_to_sketches(uint8_t* registers, const int64_t* ids, const int64_t* hashes, int64_t rows, cudaStream_t stream);
// others: [rows, sketch_size].
void merge_sketches(uint8_t* registers, const int64_t* ids, const uint8_t* others, int64_t rows, cudaStream_t stream);
// sums: [sketches, 2].
void sum_sketches(const uint8_t* registers, int64_t sketches, int64_t* sums, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
