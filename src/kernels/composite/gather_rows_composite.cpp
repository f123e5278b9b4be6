// Reference body of gather_rows: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows) {
  at::Tensor taken = values.index_select(0, rows.clamp_min(0));
  const at::Tensor none = rows.lt(0);
  taken.masked_fill_(is_wide(values) ? none.unsqueeze(1) : none, 0);
  return taken;
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CompositeExplicitAutograd, library) {
  library.impl("gather_rows", TORCH_FN(gather_rows));
}

}  // namespace pistachio::kernels::composite
