// Whether texts match a LIKE pattern, which is split at its percent signs into segments.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   pieces    int64 [p, 3] on the CPU, in order: segment, characters to skip (underscores), bytes of the literal that follows
//   literals  the bytes of all literals, back to back
//   segments  at least 1, some of them without pieces; the first is anchored at the start of the text, the last at its end
// Returns bool [n]. A character starts at the first byte of a text and at every byte that is not a UTF-8 continuation byte.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace pistachio::kernels {

at::Tensor text_match(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& pieces, std::string_view literals,
                      int64_t segments);

}  // namespace pistachio::kernels
