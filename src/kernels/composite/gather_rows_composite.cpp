// Reference body of gather_rows: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/core/Tensor.h>

#include "kernels/ops/argument_check.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows) {
  at::Tensor taken = values.index_select(0, rows.clamp_min(0));
  const at::Tensor none = rows.lt(0);
  taken.masked_fill_(is_wide(values) ? none.unsqueeze(1) : none, 0);
  return taken;
}

}  // namespace

REGISTER_BODY(Composite, "gather_rows", gather_rows);

}  // namespace pistachio::kernels::composite
