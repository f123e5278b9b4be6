// Numbers the combinations of keys that have few possible values each, in mixed radix: a group is then found by its place in a table, without
// hashing and comparing.
// append_digit returns int32 [n]: places * size + digit, where the digit of a row is 0 if it is NULL, else value - least + 1.
//   places    int32 [n], or undefined: zeros
//   values    [n] integers or booleans; where valid, least <= value < least + size - 1: not checked
//   size      number of digits; (greatest place + 1) * size fits int32
//   validity  bool [n], or undefined: no NULLs
// present_places returns int64 [k]: the distinct places, ascending.
//   places    int32 [n] in [0, limit): not checked
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

at::Tensor append_digit(const at::Tensor& places, const at::Tensor& values, int64_t least, int64_t size, const at::Tensor& validity = {});
at::Tensor present_places(const at::Tensor& places, int64_t limit);

}  // namespace pistachio::kernels
