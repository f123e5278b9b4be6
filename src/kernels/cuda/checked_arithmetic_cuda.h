// The CUDA kernels of checked_arithmetic and wide_arithmetic, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/device_error_flag.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// Same values as Arithmetic of kernels/ops/checked_arithmetic.h, which nvcc cannot compile.
enum class ArithmeticOperation : int64_t { Add, Subtract, Multiply, Divide, Modulo, DivideRounding };

// Reasons that a failing row reports.
constexpr int number_out_of_range = 0;
constexpr int division_by_zero = 1;

struct ArithmeticSide {
  const void* values;
  bool constant;           // one value for all rows
  bool is_narrow = false;  // Int64 although the results are Wide: sums, differences and products
};

// `kind`: of the results, Int8 .. Int64 or Wide; `valid` may be null. Invalid rows yield zero and report nothing.
void compute_rows(ArithmeticOperation operation, ValueKind kind, ArithmeticSide left, ArithmeticSide right, const bool* valid, int64_t rows,
                  void* results, const DeviceErrorFlag& errors, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
