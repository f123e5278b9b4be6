// The one place where a kernel call waits for the device: copies a few words to pinned memory and synchronizes the stream. Every call of
// read_back costs about 15 us, so an operation makes one if its output size or its errors depend on the data, and none otherwise.
// No torch headers: .cu files include this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Copies `count` words from the device; waits for everything enqueued on `stream` before.
void read_back(const int64_t* device_words, int64_t count, int64_t* host_words, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
