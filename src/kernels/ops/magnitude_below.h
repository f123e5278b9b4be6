// Whether every value is between -bound and bound, both exclusive: whether decimals have no more digits than their type.
//   values    int32 or int64 [n], or int64 [n, 2], two-word numbers
//   bound     positive; below 2^63 unless the values are two-word numbers
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are ignored
// On a GPU it can be deferred (deferred_checks.h): it then answers yes.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/int128.h"

namespace pistachio::kernels {

bool magnitude_below(const at::Tensor& values, Int128 bound, const at::Tensor& validity = {});

}  // namespace pistachio::kernels
