// CPU body of gather_rows.
#include "kernels/cpu/gather_rows_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows) {
  const bool wide = values.dim() == 2;
  const int64_t count = rows.numel();
  at::Tensor taken = wide ? at::empty({count, 2}, values.options()) : at::empty({count}, values.options());
  take_rows(values.const_data_ptr(), values.size(0), values.element_size() * (wide ? 2 : 1), rows.const_data_ptr<int64_t>(), count,
            taken.mutable_data_ptr());
  return taken;
}

}  // namespace

REGISTER_BODY(Cpu, "gather_rows", gather_rows);

}  // namespace pistachio::kernels::cpu
