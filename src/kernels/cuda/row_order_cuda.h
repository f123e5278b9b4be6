// The CUDA kernels of partition_rows, route_rows, sort_order and join_build, all of them stable radix sorts of row numbers, on raw device
// memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// Sorts `rows` row numbers by the top `bits` (at most 32) of their hashes. `numbers` are the rows to sort, ascending; null: all rows.
// Writes 2^bits + 1 `offsets`.
void order_by_top_bits(const int64_t* hashes, const int64_t* numbers, int64_t rows, int bits, int64_t* order, int64_t* offsets,
                       ScratchMemory& scratch, cudaStream_t stream);

// Sorts rows by owners[top `bits` of the hash]. Writes ranks + 1 `offsets`. Reports buckets whose owner is not in [0, ranks).
void order_by_owner(const int64_t* hashes, int64_t rows, const int64_t* owners, int bits, int64_t ranks, int64_t* order, int64_t* offsets,
                    const DeviceErrorFlag& errors, ScratchMemory& scratch, cudaStream_t stream);

// Sorts rows by several words, the most significant first. Synchronizes once to learn which bits differ.
void order_by_words(const std::vector<const int64_t*>& words, int64_t rows, int64_t* order, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
