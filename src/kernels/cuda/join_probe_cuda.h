// The CUDA kernels of join_probe, for raw device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// The table of join_build, with 2^bits buckets, and the rows to look up; `valid` may be null.
struct JoinProbe {
  const int64_t* offsets;
  const int64_t* order;
  const int64_t* ordered_hashes;
  int bits;
  const int64_t* hashes;
  const bool* valid;
};

// A stretch of rows from `begin` on that was counted.
struct ProbeWindow {
  int64_t begin;
  int64_t rows;              // looked up, at least 1
  int64_t pairs;             // of these rows
  const int64_t* pair_ends;  // [rows] in device memory of the scratch: pairs of the rows up to each one
};

// Counts the partners of rows from `begin` on, at most `rows` of them, and stops after the row that brings the pairs to most_pairs or
// after comparing many hashes. Waits once.
ProbeWindow count_pairs(const JoinProbe& probe, int64_t begin, int64_t rows, int64_t most_pairs, ScratchMemory& scratch,
                        cudaStream_t stream);
// Writes the pairs of a window, by probe row and then by build row.
void write_pairs(const JoinProbe& probe, const ProbeWindow& window, int64_t* probe_rows, int64_t* build_rows, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
