// The CUDA kernel of snappy_decompress, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

struct SnappyPage {
  int64_t begin;   // in the compressed bytes
  int64_t target;  // in the output
  uint32_t bytes;  // compressed, including the plain ones
  uint32_t plain;  // leading bytes to copy
  uint32_t size;   // of the output
  uint32_t page;   // index for errors
};

// `pages` is device memory. Sets *first_damaged, which is 0 before, to the greatest -1 - page (as unsigned numbers: the first page) of the
// damaged pages. Returns the launch error.
cudaError_t decompress_snappy(const uint8_t* bytes, const SnappyPage* pages, int64_t page_count, uint8_t* out,
                              unsigned long long* first_damaged, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
