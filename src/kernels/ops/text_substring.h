// Begin and end of a substring of each text, counted in characters; no bytes are copied.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   skipped, count  characters before the substring and in it, not negative. A text that is too short yields the characters it has.
// Returns (begins, ends), int64 [n] each. A character starts at the first byte of a text and at every byte that is not a continuation byte.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count);

}  // namespace pistachio::kernels
