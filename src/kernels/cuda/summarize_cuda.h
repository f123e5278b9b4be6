// The CUDA kernels of summarize and summarize_dictionary, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/value_kind.h"

namespace pistachio::kernels::cuda {

// The values are values[row], or values[codes[row]] if `codes` is not null; `valid` may be null.
struct SummarizedColumn {
  ValueKind kind;
  const void* values;
  const int32_t* codes;
  const bool* valid;
  int64_t rows;
};

// Trivially copyable, as it is copied back from the device.
struct IntegerSummary {
  int64_t count, min, max;
  WideWords sum;
};
struct WideSummary {
  int64_t count;
  WideWords min, max, sum;  // the sum is modulo 2^128
};
struct FloatSummary {
  int64_t count, nans;
  double min, max;  // NaN ignored
  double sum;       // NaN included
};

// Each synchronizes once. min and max are undefined if there are no values.
IntegerSummary summarize_integers(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream);
WideSummary summarize_wide(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream);
FloatSummary summarize_floats(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream);

// Expands a Wide column with codes to plain values.
void expand_wide(const SummarizedColumn& column, WideWords* out, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
