// The CUDA kernels of text_ranks, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/text_words.h"

namespace pistachio::kernels::cuda {

// ranks[i] = number of distinct values less than value i. Synchronizes once, for the length of the longest value.
void rank_texts(const TextColumn& text, int64_t rows, int64_t* ranks, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
