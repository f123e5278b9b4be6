// CUDA bodies of decimal_from_bytes, int96_to_micros and float16_to_float. They synchronize only if a value may be out of range:
// timestamps, and decimals stored in more bytes than their type has; not even then if checks are deferred.
#include <c10/cuda/CUDAGuard.h>

#include "base/error.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/fixed_bytes_conversion_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor decimal_from_bytes(const at::Tensor& rows, bool wide) {
  const c10::cuda::CUDAGuard guard(rows.device());
  const int64_t count = rows.size(0), width = rows.size(1);
  const int words = wide ? 2 : 1;
  const at::TensorOptions options = rows.options().dtype(at::kLong);
  at::Tensor values = wide ? at::empty({count, 2}, options) : at::empty({count}, options);
  if (count == 0) return values;
  DecodeStatus status = DecodeStatus::deferrable();
  check_launch(convert_decimals(rows.const_data_ptr<uint8_t>(), count, width, words, values.mutable_data_ptr<int64_t>(), status.failure(),
                                status.stream()));
  if (width <= 8 * words) return values;
  const DecodeFailure failure = status.finish();
  if (failure.problem != DecodeProblem::None) throw DataError("a decimal is too large for its type", {.offset = failure.offset * width});
  return values;
}

at::Tensor int96_to_micros(const at::Tensor& rows) {
  const c10::cuda::CUDAGuard guard(rows.device());
  at::Tensor values = at::empty({rows.size(0)}, rows.options().dtype(at::kLong));
  if (values.numel() == 0) return values;
  DecodeStatus status = DecodeStatus::deferrable();
  check_launch(convert_int96(rows.const_data_ptr<uint8_t>(), rows.size(0), values.mutable_data_ptr<int64_t>(), status.failure(),
                             status.stream()));
  const DecodeFailure failure = status.finish();
  if (failure.problem != DecodeProblem::None) {
    throw DataError("a timestamp lies outside the range of microseconds", {.offset = failure.offset * 12});
  }
  return values;
}

at::Tensor float16_to_float(const at::Tensor& rows) {
  const c10::cuda::CUDAGuard guard(rows.device());
  at::Tensor values = at::empty({rows.size(0)}, rows.options().dtype(at::kFloat));
  check_launch(convert_float16(rows.const_data_ptr<uint8_t>(), rows.size(0), values.mutable_data_ptr<float>(),
                               c10::cuda::getCurrentCUDAStream()));
  return values;
}

}  // namespace

REGISTER_BODY(Cuda, "decimal_from_bytes", decimal_from_bytes);
REGISTER_BODY(Cuda, "int96_to_micros", int96_to_micros);
REGISTER_BODY(Cuda, "float16_to_float", float16_to_float);

}  // namespace pistachio::kernels::cuda
