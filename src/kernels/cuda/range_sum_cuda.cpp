// CUDA body of range_sum, on torch's current stream. Only sums of two-word values synchronize, since they may overflow 128 bits, and not
// even those if the caller defers checks.
#include "kernels/cuda/range_sum_cuda.h"

#include "base/error.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t most_summed_rows = int64_t{1} << 32;  // prefix sums of 32-bit values have 64 bits

at::Tensor range_sum(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                     const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(values);
  const RowRanges ranges = row_ranges(begins, ends);
  const ValueKind kind = value_kind_of(values);
  at::Tensor sums = at::empty({ranges.count, 2}, begins.options());
  auto* out = static_cast<WideWords*>(sums.mutable_data_ptr());
  ScratchMemory scratch;
  if (kind == ValueKind::Wide) {
    const DeviceErrorFlag errors(call.stream(), CheckTime::Deferrable);
    sum_wide_ranges(static_cast<const WideWords*>(values.const_data_ptr()), mask_of(validity), values.size(0), ranges, out, errors, scratch,
                    call.stream());
    if (errors.wait_for_failure()) throw UserError("sum out of range");
  } else {
    ENSURE(kind == ValueKind::Int64 || values.size(0) <= most_summed_rows);
    sum_ranges(kind, values.const_data_ptr(), mask_of(validity), values.size(0), ranges, out, scratch, call.stream());
  }
  return sums;
}

}  // namespace

REGISTER_BODY(Cuda, "range_sum", range_sum);

}  // namespace pistachio::kernels::cuda
