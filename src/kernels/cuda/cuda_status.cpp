#include "kernels/cuda/cuda_status.h"

#include "base/check.h"
#include "base/error.h"

namespace pistachio::kernels::cuda {

void check_cuda(cudaError_t status) {
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // else the next launch would report it
    throw OutOfMemory(
        "out of memory on the GPU or of pinned memory on the host: lower device_memory_limit, device_chunk_bytes or memory_limit");
  }
  ENSURE(status == cudaSuccess, "{}", cudaGetErrorString(status));
}

}  // namespace pistachio::kernels::cuda
