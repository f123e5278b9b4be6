// Looks codes up in a dictionary.
//   dictionary  [d] of any column dtype, or int64 [d, 2]
//   codes       int32 [n] in [0, d): checked by their producer (rle_decode with limit d), not here
// Returns [n] or [n, 2] of the dictionary's dtype.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes);

}  // namespace pistachio::kernels
