// CUDA body of spread: synchronizes once, to compare the number of values with the number of valid rows.
#include <c10/cuda/CUDAGuard.h>

#include "base/check.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/spread_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity) {
  const c10::cuda::CUDAGuard guard(values.device());
  const bool wide = values.dim() == 2;
  const int64_t rows = validity.numel();
  at::Tensor out = wide ? at::empty({rows, values.size(1)}, values.options()) : at::empty({rows}, values.options());
  if (rows == 0) {
    ENSURE_EQ(values.size(0), 0);
    return out;
  }
  const size_t scratch_bytes = spread_scratch_bytes(rows);
  at::Tensor scratch = at::empty({static_cast<int64_t>(scratch_bytes)}, values.options().dtype(at::kByte));
  DecodeStatus status(1);
  check_launch(spread_values(values.const_data_ptr(), values.element_size() * (wide ? 2 : 1), values.size(0),
                             reinterpret_cast<const uint8_t*>(validity.const_data_ptr<bool>()), rows, out.mutable_data_ptr(),
                             scratch.mutable_data_ptr(), scratch_bytes, status.results(), status.stream()));
  status.finish();
  ENSURE_EQ(values.size(0), *status.host_results().const_data_ptr<int64_t>());
  return out;
}

}  // namespace

REGISTER_BODY(Cuda, "spread", spread);

}  // namespace pistachio::kernels::cuda
