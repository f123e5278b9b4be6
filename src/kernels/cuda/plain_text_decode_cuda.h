// The CUDA kernels of plain_text_decode, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

// Longer pages are cut into tiles of this size, which are decoded in parallel.
constexpr int64_t text_tile_bytes = 4096;

struct TextPage {
  int64_t begin;  // the values are bytes[begin, end)
  int64_t end;
  int64_t skip;
  int64_t take;
  int64_t target;      // output row of the first taken value
  int64_t first_tile;  // among the tiles of the call
  int64_t tiles;       // 0: decoded as one piece
};

// Pages [first, first + count) of a table in device memory.
struct TextPages {
  const TextPage* table;
  int64_t first;
  int64_t count;
  int64_t tiles;  // of these pages; first_tile counts from the first of them
};

// Writes where in `bytes` each taken value begins and ends. Returns the launch error.
cudaError_t find_text(const uint8_t* bytes, const TextPages& pages, int64_t* begins, int64_t* ends, FailureWord failure, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
