// The CUDA kernels of plain_decode, plain_fixed_bytes_decode and plain_boolean_decode, on raw device memory and a stream. The host cuts
// pages into slices of limited size, one block each, so that large pages spread over the device. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// A contiguous piece of a page. `source` is relative to the start of the input, `target` to the first element of the output.
struct CopySlice {
  int64_t source;  // bytes for copies, bits for booleans
  int64_t target;
  int64_t count;
};

constexpr int64_t slice_bytes = int64_t{32} << 10;  // output per block

// Copies each slice (source, target and count in bytes). `slices` is device memory. Returns the launch error.
cudaError_t copy_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream);

// Expands each slice of bits (source in bits, target and count in values) to one byte per value.
cudaError_t expand_bit_slices(const uint8_t* bytes, const CopySlice* slices, int64_t slice_count, uint8_t* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
