// Two-word numbers (int64 [n, 2]) to and from other tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "data/scalar_value.h"

namespace pistachio {

// Integers to two words.
at::Tensor widen(const at::Tensor& values);
at::Tensor wide_to_double(const at::Tensor& words);
// [1, 2]
at::Tensor wide_constant(Int128 value, at::Device device);

}  // namespace pistachio
