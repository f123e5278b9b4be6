// Whether every value lies between -bound and bound, both exclusive: whether decimals have no more digits than their type.
//   values  int32 or int64 [n]
//   bound   positive
// On a GPU it can be deferred (deferred_checks.h): it then answers yes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

bool magnitude_below(const at::Tensor& values, int64_t bound);

}  // namespace pistachio::kernels
