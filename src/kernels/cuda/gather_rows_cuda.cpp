// CUDA body of gather_rows, on torch's current stream. No synchronization.
#include "kernels/cuda/gather_rows_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows) {
  const KernelCall call(values);
  at::Tensor taken = empty_like_rows(values, rows.size(0));
  gather_value_rows(value_kind_of(values), values.const_data_ptr(), rows.const_data_ptr<int64_t>(), rows.size(0), taken.mutable_data_ptr(),
                    call.stream());
  return taken;
}

}  // namespace

REGISTER_BODY(Cuda, "gather_rows", gather_rows);

}  // namespace pistachio::kernels::cuda
