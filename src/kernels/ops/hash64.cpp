// Entry point of hash64, hash64_text and hash64_combine.
#include "kernels/ops/hash64.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor hash64(const at::Tensor& values) {
  check_values(values);
  static const Operation<at::Tensor(const at::Tensor&)> operation("hash64");
  return operation.on(values)(values.contiguous());
}

at::Tensor hash64_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  check_text(bytes, begins, ends);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)> operation("hash64_text");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous());
}

at::Tensor hash64_combine(const at::Tensor& first, const at::Tensor& second) {
  ENSURE(first.scalar_type() == at::kLong && second.scalar_type() == at::kLong);
  ENSURE(first.dim() == 1 && second.dim() == 1);
  ENSURE_EQ(first.size(0), second.size(0));
  ENSURE(first.device() == second.device());
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("hash64_combine");
  return operation.on(first)(first.contiguous(), second.contiguous());
}

}  // namespace pistachio::kernels
