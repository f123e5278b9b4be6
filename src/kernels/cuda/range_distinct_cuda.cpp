// CUDA body of range_distinct, on torch's current stream. No synchronization for ranges of one part. Ranges of several parts, which only
// frames with EXCLUDE have, go to the composite body on the host: a value in two parts counts once, which the wavelet matrix cannot tell.
#include "kernels/ops/range_distinct.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/range_distinct_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t most_counted_rows = (int64_t{1} << 32) - 2;

at::Tensor range_distinct(const at::Tensor& ids, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                          const at::Tensor& ends, int64_t values, const std::optional<at::Tensor>& stop) {
  if (begins.size(0) > 1) {
    const KernelModeGuard composite(KernelMode::Composite);
    return kernels::range_distinct(ids, validity.value_or(at::Tensor()), begins, ends, values, stop.value_or(at::Tensor()));
  }
  StopCheck{stop}();
  const KernelCall call(ids);
  ENSURE_LE(ids.numel(), most_counted_rows);
  at::Tensor distinct = empty_words(ids, begins.size(1));
  ScratchMemory scratch;
  count_distinct(ids.const_data_ptr<int64_t>(), mask_of(validity), ids.numel(), values, begins.const_data_ptr<int64_t>(),
                 ends.const_data_ptr<int64_t>(), begins.size(1), distinct.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return distinct;
}

}  // namespace

REGISTER_BODY(Cuda, "range_distinct", range_distinct);

}  // namespace pistachio::kernels::cuda
