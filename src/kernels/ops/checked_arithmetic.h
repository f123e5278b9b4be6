// Integer arithmetic with overflow checks.
//   checked_arithmetic  left, right: [n] of one integer dtype (int8 .. int64); one of them may be [1], which is broadcast
//   wide_arithmetic     left, right: int64 [n, 2], two-word numbers, or int64 [n]; one of them may have one row. Yields int64 [n, 2]
//   valid               bool [n], or undefined: all rows are valid. Results of invalid rows are arbitrary and raise no errors
// Divide truncates toward zero, DivideRounding rounds halves away from zero, Modulo has the sign of the left side.
// UserError: a result overflows the dtype (128 bits), division by zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

enum class Arithmetic : int64_t { Add, Subtract, Multiply, Divide, Modulo, DivideRounding };

at::Tensor checked_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid);
at::Tensor wide_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid);

}  // namespace pistachio::kernels
