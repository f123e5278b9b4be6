// Entry point of segment_bounds.
#include "kernels/ops/segment_bounds.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts) {
  ENSURE(starts.defined());
  ENSURE_EQ(starts.dim(), 1);
  check_mask(starts, starts.size(0), starts);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&)> operation("segment_bounds");
  return operation.on(starts)(starts.contiguous());
}

}  // namespace pistachio::kernels
