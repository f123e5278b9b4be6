// Entry point of compress and count_true.
#include "kernels/ops/compress.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask) {
  return compress(values, mask, count_true(mask));
}

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask, int64_t selected) {
  check_values(values);
  check_mask(mask, values.size(0), values);
  ENSURE(selected >= 0 && selected <= values.size(0));
  if (selected == values.size(0)) return values;
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t)> operation("compress");
  return operation.on(values)(values.contiguous(), mask.contiguous(), selected);
}

int64_t count_true(const at::Tensor& mask) {
  ENSURE(mask.defined());
  check_mask(mask, mask.numel(), mask);
  static const Operation<int64_t(const at::Tensor&)> operation("count_true");
  return operation.on(mask)(mask.contiguous());
}

}  // namespace pistachio::kernels
