// The CUDA kernels of partition_rows, route_rows, sort_order and join_build, which all are stable radix sorts of row numbers. For raw
// device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// Sorts `rows` row numbers by the top `bits` (at most 32) of their hashes. `numbers` are the rows to sort, ascending; null for all rows.
// `offsets` gets 2^bits + 1 elements.
void order_by_top_bits(const int64_t* hashes, const int64_t* numbers, int64_t rows, int bits, int64_t* order, int64_t* offsets,
                       ScratchMemory& scratch, cudaStream_t stream);

// Sorts rows by owners[top `bits` of the hash]. `offsets` gets ranks + 1 elements. Buckets whose owner is not in [0, ranks) are reported.
void order_by_owner(const int64_t* hashes, int64_t rows, const int64_t* owners, int bits, int64_t ranks, int64_t* order, int64_t* offsets,
                    const DeviceErrorFlag& errors, ScratchMemory& scratch, cudaStream_t stream);

// Sorts rows by words [rows] each, the most significant first. Waits once to learn which bits differ at all.
void order_by_words(const std::vector<const int64_t*>& words, int64_t rows, int64_t* order, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
