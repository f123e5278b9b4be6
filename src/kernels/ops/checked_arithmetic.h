// Arithmetic on integers that never wraps.
//   checked_arithmetic  left, right: [n] of one integer dtype (int8 .. int64); one of them may be [1] and stands for all rows
//   wide_arithmetic     left, right: int64 [n, 2], two-word numbers; one of them may be [1, 2]
//   valid               bool [n]: rows that count, undefined for all. Others may give anything and raise nothing
// Divide truncates toward zero, DivideRounding rounds halves away from zero, Modulo has the sign of the left side.
// UserError: a result that does not fit the dtype (128 bits), division by zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

enum class Arithmetic : int64_t { Add, Subtract, Multiply, Divide, Modulo, DivideRounding };

at::Tensor checked_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid);
at::Tensor wide_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid);

}  // namespace pistachio::kernels
