// Begin and end of a run of characters in each text; the bytes stay where they are.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) lies inside bytes
//   skipped, count  characters before the run, and in it; not negative. A text that is too short gives what it has.
// Returns (begins, ends), int64 [n] each. A character begins at the first byte of a text and at every byte that does not continue another.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count);

}  // namespace pistachio::kernels
