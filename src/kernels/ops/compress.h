// Keeps the rows that a mask selects.
//   values    [n] of any column dtype, or int64 [n, 2]
//   mask      bool [n]
//   selected  count_true(mask), if the caller knows it: counting takes a pass on the CPU and a wait on a GPU
// compress returns the selected values in order, [k] or [k, 2] (`values` itself if all are selected); count_true returns k.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask);
at::Tensor compress(const at::Tensor& values, const at::Tensor& mask, int64_t selected);
int64_t count_true(const at::Tensor& mask);

}  // namespace pistachio::kernels
