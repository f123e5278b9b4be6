// The CUDA kernels of compare_constant, compare_wide_constant, compare_columns, compare_text_constant and compare_text_columns, on raw
// device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/text_words.h"
#include "kernels/cuda/value_kind.h"
#include "kernels/ops/comparison.h"

namespace pistachio::kernels::cuda {

// One function per class of kinds: integers against an int64, floats against a double, Wide against two words.
void compare_integers(ValueKind kind, const void* values, int64_t rows, Comparison comparison, int64_t constant, bool* out,
                      cudaStream_t stream);
void compare_floats(ValueKind kind, const void* values, int64_t rows, Comparison comparison, double constant, bool* out,
                    cudaStream_t stream);
void compare_wide(const void* values, int64_t rows, Comparison comparison, WideWords constant, bool* out, cudaStream_t stream);
void compare_value_columns(ValueKind kind, const void* left, const void* right, int64_t rows, Comparison comparison, bool* out,
                           cudaStream_t stream);

// A text constant: its first 16 bytes as two keys (big-endian, zero-padded), and the whole text in device memory if it is longer.
struct TextConstant {
  uint64_t first_key, second_key;
  TextSpan text;
};
constexpr int64_t text_constant_key_bytes = 16;
void compare_text_with_constant(const TextColumn& text, int64_t rows, Comparison comparison, const TextConstant& constant, bool* out,
                                cudaStream_t stream);
void compare_two_texts(const TextColumn& left, const TextColumn& right, int64_t rows, Comparison comparison, bool* out,
                       cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
