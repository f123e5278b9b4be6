// The CUDA kernels of text_compact, on raw device memory and a stream. Two steps, because the caller allocates the output in between. No
// torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace pistachio::kernels::cuda {

size_t text_offsets_scratch_bytes(int64_t count);

// Writes offsets[0 .. count], the prefix sums of the lengths. count > 0.
cudaError_t sum_text_lengths(const int64_t* begins, const int64_t* ends, int64_t count, int64_t* offsets, void* scratch,
                             size_t scratch_bytes, cudaStream_t stream);

// Copies value i to out[offsets[i], offsets[i + 1]). `out` has `room` bytes, at least offsets[count], and is 16-byte aligned.
cudaError_t copy_text(const uint8_t* bytes, const int64_t* begins, const int64_t* offsets, int64_t count, int64_t room, uint8_t* out,
                      cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
