// The CUDA kernels of text_match and text_substring, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/text_words.h"

namespace pistachio::kernels::cuda {

// Skips characters, then expects a literal.
struct LikePiece {
  int64_t skipped;
  int64_t literal_begin;  // in LikeProgram::literals
  int64_t literal_length;
  uint64_t key;   // up to eight bytes of the literal, the first one lowest
  uint64_t mask;  // the bytes that the key covers
};

// Device memory. Segment s consists of pieces [segment_begins[s], segment_begins[s + 1]).
struct LikeProgram {
  const LikePiece* pieces;
  const int64_t* segment_begins;
  const uint8_t* literals;
  int64_t segments;
};

void match_texts(const TextColumn& text, int64_t rows, const LikeProgram& program, bool* out, cudaStream_t stream);

void cut_texts(const TextColumn& text, int64_t rows, int64_t skipped, int64_t count, int64_t* begins, int64_t* ends, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
