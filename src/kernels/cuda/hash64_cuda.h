// The CUDA kernels of hash64, hash64_text and hash64_combine, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/text_words.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

void hash_values(ValueKind kind, const void* values, int64_t rows, uint64_t* hashes, cudaStream_t stream);
void hash_text(const TextColumn& text, int64_t rows, uint64_t* hashes, cudaStream_t stream);
void hash_combine(const uint64_t* first, const uint64_t* second, int64_t rows, uint64_t* hashes, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
