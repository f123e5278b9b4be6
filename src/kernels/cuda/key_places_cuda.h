// The CUDA kernels of append_digit and present_places, on raw device memory and a stream. No torch headers: nvcc compiles this too.
// `places` of append_digits and `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Integer kinds. `first`: the value of digit 0, modulo 2^32.
void append_digits(ValueKind kind, const int32_t* places, const void* values, const bool* valid, int64_t rows, uint32_t first,
                   uint32_t size, int32_t* out, cudaStream_t stream);
// Sets is_present[place] for every place; `is_present` [limit] is all false before.
void mark_places(const int32_t* places, int64_t rows, bool* is_present, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
