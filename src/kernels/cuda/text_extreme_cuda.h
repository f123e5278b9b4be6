// The CUDA kernels of segment_extreme_text, summarize_text and summarize_text_dictionary, on raw device memory and a stream. No torch
// headers: nvcc compiles this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/text_words.h"

namespace pistachio::kernels::cuda {

// best[group] = the first of its rows with the smallest or greatest text; -1 if it has none. Null `ids`: all rows are in group 0.
void find_extreme_texts(const TextColumn& text, const int64_t* ids, int64_t groups, bool take_max, const bool* valid, int64_t rows,
                        int64_t* best, cudaStream_t stream);

// totals[0 .. 2] += number of valid values, their characters, their bytes. Value i is text[codes[i]], or text[i] if `codes` is null.
void add_text_lengths(const TextColumn& text, const int32_t* codes, const bool* valid, int64_t rows, int64_t* totals, cudaStream_t stream);

// used[codes[row]] = true for valid rows.
void mark_used_entries(const int32_t* codes, const bool* valid, int64_t rows, bool* used, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
