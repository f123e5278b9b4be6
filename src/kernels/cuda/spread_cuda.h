// The CUDA kernels of spread, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace pistachio::kernels::cuda {

// Bytes of scratch memory for `rows` rows.
size_t spread_scratch_bytes(int64_t rows);

// Writes the next of the `stored` values where validity is true, zero elsewhere, and the number of true rows to *valid_count (device
// memory). Rows beyond `stored` values are zero. Values have 1, 2, 4, 8 or 16 bytes; 16-byte values are 8-byte aligned. rows > 0.
cudaError_t spread_values(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out,
                          void* scratch, size_t scratch_bytes, int64_t* valid_count, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
