// Whether texts match a LIKE pattern that was taken apart into the segments between its percent signs.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) lies inside bytes
//   pieces    int64 [p, 3] on the CPU, in order: number of the segment, characters to skip (underscores), length in bytes of the literal behind
//   literals  the bytes of all literals, end to end
//   segments  at least 1, some of them without pieces; the first is anchored at the begin of the text, the last at its end
// Returns bool [n]. A character begins at the first byte of a text and at every byte that does not continue another in UTF-8.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace pistachio::kernels {

at::Tensor text_match(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& pieces, std::string_view literals,
                      int64_t segments);

}  // namespace pistachio::kernels
