// Compares text values with a constant, byte by byte as unsigned (the order of UTF-8 is that of its code points; collation "C").
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
// Returns bool [n]: value <op> constant. A proper prefix is less.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "kernels/ops/comparison.h"

namespace pistachio::kernels {

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, Comparison comparison,
                                 const std::string& constant);

}  // namespace pistachio::kernels
