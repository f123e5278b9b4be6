// Compares values with a constant.
//   values    [n] of any column dtype. Integers and booleans take an integer or boolean constant and are compared exactly, whatever
//             their width; float and double take any number and are compared as doubles
//   constant  the right side: values <op> constant
// Returns bool [n]. NaN orders as in PostgreSQL: equal to NaN, greater than every number. The caller handles NULLs.
// compare_wide_constant does the same for two-word decimals, int64 [n, 2], and a constant in two words.
#pragma once

#include <ATen/core/Scalar.h>
#include <ATen/core/Tensor.h>

#include "kernels/ops/comparison.h"

namespace pistachio::kernels {

at::Tensor compare_constant(const at::Tensor& values, Comparison comparison, const at::Scalar& constant);
at::Tensor compare_wide_constant(const at::Tensor& values, Comparison comparison, int64_t low, int64_t high);

}  // namespace pistachio::kernels
