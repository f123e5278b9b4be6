// The one place where a kernel call waits for the device: a few words go to pinned memory, then the stream is synchronised. Every call of
// read_back costs about 15 us, so an operation makes one if its output size or its errors depend on the data, and none otherwise.
// No torch header: .cu files read this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Copies `count` words from the device and waits for everything queued on `stream` before.
void read_back(const int64_t* device_words, int64_t count, int64_t* host_words, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
