// The CUDA kernels of text_ranks, for raw device memory and a stream. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/text_words.h"

namespace pistachio::kernels::cuda {

// ranks[i] = how many different values are less than value i. Waits once, for the length of the longest value.
void rank_texts(const TextColumn& text, int64_t rows, int64_t* ranks, ScratchMemory& scratch, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
