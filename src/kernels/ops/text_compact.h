// Copies text values back to back, which drops bytes that belong to no value.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   room                 at least the sum of the lengths, or -1: unknown. If it is known, the host need not wait for a GPU
// Returns (bytes uint8 [sum of lengths, or `room`], offsets int64 [n + 1]): value i is bytes[offsets[i], offsets[i + 1]).
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t room = -1);

}  // namespace pistachio::kernels
