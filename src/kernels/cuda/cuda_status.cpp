#include "kernels/cuda/cuda_status.h"

#include "base/check.h"

namespace pistachio::kernels::cuda {

void check_cuda(cudaError_t status) {
  ENSURE(status == cudaSuccess, "{}", cudaGetErrorString(status));
}

}  // namespace pistachio::kernels::cuda
