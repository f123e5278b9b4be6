// Copies from pinned host memory by a kernel instead of the copy engine. That engine serves all streams in the order of their calls, so that
// a table of a few kilobytes would wait for hundreds of megabytes of other streams.
// No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Both addresses are aligned to 16 bytes. Returns the launch error.
cudaError_t copy_pinned(const void* pinned, void* target, int64_t bytes, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
