// The CUDA kernel of magnitude_below, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Reports the valid rows of `values` (Int32, Int64 or Wide) that are not between -bound and bound. `valid` may be null.
void check_magnitudes(ValueKind kind, const void* values, const bool* valid, int64_t rows, WideWords bound, const DeviceErrorFlag& errors,
                      cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
