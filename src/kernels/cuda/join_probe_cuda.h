// The CUDA kernels of join_probe, for raw device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// The table of join_build, with 2^bits buckets, and the probe rows; `valid` may be null.
struct JoinProbe {
  const int64_t* offsets;
  const int64_t* order;
  const int64_t* ordered_hashes;
  int bits;
  const int64_t* hashes;
  const bool* valid;
};

// A range of rows, starting at `begin`, whose pairs have been counted.
struct ProbeWindow {
  int64_t begin;
  int64_t rows;              // rows in the window, at least 1
  int64_t pairs;             // pairs of these rows
  const int64_t* pair_ends;  // [rows] in scratch device memory: prefix sums of the pairs
};

// Counts the matches of at most `rows` rows starting at `begin`. Stops after the row that reaches most_pairs pairs, or after comparing many
// hashes. Synchronizes once.
ProbeWindow count_pairs(const JoinProbe& probe, int64_t begin, int64_t rows, int64_t most_pairs, ScratchMemory& scratch,
                        cudaStream_t stream);
// Writes the pairs of a window, ordered by probe row, then build row.
void write_pairs(const JoinProbe& probe, const ProbeWindow& window, int64_t* probe_rows, int64_t* build_rows, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
