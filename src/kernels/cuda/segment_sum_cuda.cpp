// CUDA bodies of segment_count, segment_sum, sums_fit and segment_sum_float, on torch's current stream. Only sums of two-word values
// synchronize, since they may overflow 128 bits; the state is then unchanged. Not even those if the caller knows that they fit.
#include "kernels/cuda/segment_sum_cuda.h"

#include "base/error.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/wide_sum_overflow.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

void segment_count(at::Tensor& counts, const at::Tensor& ids, const std::optional<at::Tensor>& validity) {
  const KernelCall call(ids);
  count_segments(counts.mutable_data_ptr<int64_t>(), counts.size(0), ids.const_data_ptr<int64_t>(), mask_of(validity), ids.numel(),
                 call.stream());
}

const WideWords* wide_words_of(const at::Tensor& numbers) {
  return static_cast<const WideWords*>(numbers.const_data_ptr());
}

bool sums_fit(const at::Tensor& sums, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  const DeviceErrorFlag errors(call.stream(), CheckTime::Deferrable);
  check_wide_sums_fit(wide_words_of(sums), sums.size(0), wide_words_of(values), mask_of(validity), values.size(0), errors, call.stream());
  return !errors.wait_for_failure().has_value();
}

void segment_sum(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity,
                 bool fit) {
  const KernelCall call(values);
  const int64_t* groups = ids.const_data_ptr<int64_t>();
  const ValueKind kind = value_kind_of(values);
  if (kind == ValueKind::Wide) {
    ENSURE_LT(sums.size(0), int64_t{1} << 32);
    if (!fit && wide_sums_overflow(wide_words_of(sums), sums.size(0), groups, wide_words_of(values), mask_of(validity), ids.numel(),
                                   call.stream())) {
      throw UserError("sum is out of range");
    }
  }
  sum_segments(kind, sums.mutable_data_ptr<int64_t>(), sums.size(0), groups, values.const_data_ptr(), mask_of(validity), ids.numel(),
               call.stream());
}

void segment_sum_float(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  sum_float_segments(value_kind_of(values), sums.mutable_data_ptr<double>(), sums.size(0), ids.const_data_ptr<int64_t>(),
                     values.const_data_ptr(), mask_of(validity), ids.numel(), call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "segment_count", segment_count);
REGISTER_BODY(Cuda, "segment_sum", segment_sum);
REGISTER_BODY(Cuda, "sums_fit", sums_fit);
REGISTER_BODY(Cuda, "segment_sum_float", segment_sum_float);

}  // namespace pistachio::kernels::cuda
