// The CUDA kernels of plain_decode, plain_fixed_bytes_decode and plain_boolean_decode, for raw device memory and a stream. The host cuts
// pages into slices of limited size, one block each, so that large pages spread over the device. No torch header: nvcc reads this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// A contiguous piece of a page. `source` counts from the first byte of the input, `target` from the first element of the output.
struct CopySlice {
  int64_t source;  // bytes for copies, bits for booleans
  int64_t target;
  int64_t count;
};

constexpr int64_t slice_bytes = int64_t{32} << 10;  // output of one block

// Copies each slice (source, target and count in bytes). `slices` is device memory. Returns the error of the launch.
cudaError_t copy_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream);

// Expands each slice of bits (source in bits, target and count in values) to one byte a value.
cudaError_t expand_bit_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
