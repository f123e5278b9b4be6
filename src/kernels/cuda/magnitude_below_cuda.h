// The CUDA kernel of magnitude_below, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Reports the rows of `values` (Int or Long) that are not between -bound and bound.
void check_magnitudes(ValueKind kind, const void* values, int64_t rows, int64_t bound, const DeviceErrorFlag& errors, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
