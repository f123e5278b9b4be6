// Two-word numbers (int64 [n, 2]) of other values and as other values; of integers: kernels/ops/two_words.h.
#pragma once

#include <ATen/core/Tensor.h>

#include "data/scalar_value.h"

namespace pistachio {

at::Tensor wide_to_double(const at::Tensor& words);
// [1, 2]
at::Tensor wide_constant(Int128 value, at::Device device);

}  // namespace pistachio
