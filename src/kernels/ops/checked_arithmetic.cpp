// Entry point of checked_arithmetic and wide_arithmetic.
#include "kernels/ops/checked_arithmetic.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/two_words.h"

namespace pistachio::kernels {

namespace {

using Body = at::Tensor(const at::Tensor&, int64_t, const at::Tensor&, const std::optional<at::Tensor>&);

int64_t check_sides(const at::Tensor& left, const at::Tensor& right, const at::Tensor& valid) {
  check_values(left);
  check_values(right);
  ENSURE(left.scalar_type() == right.scalar_type() && left.device() == right.device() && !left.is_floating_point());
  int64_t rows = left.size(0) == 1 ? right.size(0) : left.size(0);
  ENSURE(right.size(0) == rows || right.size(0) == 1, "{} and {} rows", left.size(0), right.size(0));
  if (valid.defined()) check_mask(valid, rows, left);
  return rows;
}

std::optional<at::Tensor> optional_mask(const at::Tensor& valid) {
  if (!valid.defined()) return std::nullopt;
  return valid.contiguous();
}

}  // namespace

at::Tensor checked_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid) {
  check_sides(left, right, valid);
  ENSURE(left.dim() == 1 && right.dim() == 1 && left.scalar_type() != at::kBool);
  static const Operation<Body> dispatched("checked_arithmetic");
  return dispatched.on(left)(left.contiguous(), static_cast<int64_t>(operation), right.contiguous(), optional_mask(valid));
}

at::Tensor wide_arithmetic(const at::Tensor& left, Arithmetic operation, const at::Tensor& right, const at::Tensor& valid) {
  check_sides(left, right, valid);
  ENSURE(left.scalar_type() == at::kLong && right.scalar_type() == at::kLong);
  // The bodies take 64-bit sides where that saves work.
  const bool divides = operation != Arithmetic::Add && operation != Arithmetic::Subtract && operation != Arithmetic::Multiply;
  const at::Tensor first = divides ? two_words(left) : left, second = divides ? two_words(right) : right;
  static const Operation<Body> dispatched("wide_arithmetic");
  return dispatched.on(left)(first.contiguous(), static_cast<int64_t>(operation), second.contiguous(), optional_mask(valid));
}

}  // namespace pistachio::kernels
