// Whether sums of two-word values overflow 128 bits when rows are added in order: an overflow that later rows would undo is an error too.
// No torch headers: nvcc compiles this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// For values added to `sums` [groups] by their ids; null `ids`: all rows are in group 0. Synchronizes once, and a second time if the values
// are so large that the row order may matter: only then are rows sorted by group and all prefixes checked, which takes about 60 bytes of
// temporary memory per row.
bool wide_sums_overflow(const WideWords* sums, int64_t groups, const int64_t* ids, const WideWords* values, const bool* valid, int64_t rows,
                        cudaStream_t stream);

// Reports a failure if the values may be too large for sums of 128 bits, whatever their ids.
void check_wide_sums_fit(const WideWords* sums, int64_t groups, const WideWords* values, const bool* valid, int64_t rows,
                         const DeviceErrorFlag& errors, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
