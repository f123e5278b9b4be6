// Turns CUDA status codes into InternalError, or OutOfMemory. No torch headers: .cu files include this too.
#pragma once

#include <cuda_runtime_api.h>

namespace pistachio::kernels::cuda {

void check_cuda(cudaError_t status);

}  // namespace pistachio::kernels::cuda
