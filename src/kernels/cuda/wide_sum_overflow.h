// Whether sums of two-word values leave 128 bits on the way, rows being added in their order: a sum that only passes through the outside is
// an error too. No torch header: nvcc reads this too. `valid` may be null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// For the values added to `sums` [groups] by their ids; null ids put all rows into group 0. Waits once, and a second time when the values
// are so large that the order of the rows may matter: only then rows are sorted by group and every prefix is looked at, which takes about
// 60 bytes of temporary memory per row.
bool wide_sums_overflow(const WideWords* sums, int64_t groups, const int64_t* ids, const WideWords* values, const bool* valid, int64_t rows,
                        cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
