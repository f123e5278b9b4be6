// Integers as two-word numbers: int64 [n, 2], the low word first, the high word extends the sign.
//   numbers  integers [n] of any width; int64 [n, 2] is returned as it is
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor two_words(const at::Tensor& numbers);

}  // namespace pistachio::kernels
