// CUDA body of magnitude_below, on torch's current stream. Synchronizes once, unless checks are deferred; then the answer is yes.
#include "kernels/cuda/magnitude_below_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

bool magnitude_below(const at::Tensor& values, int64_t bound_low, int64_t bound_high, const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  const DeviceErrorFlag errors(call.stream(), CheckTime::Deferrable);
  check_magnitudes(value_kind_of(values), values.const_data_ptr(), mask_of(validity), values.size(0), {bound_low, bound_high}, errors,
                   call.stream());
  return !errors.wait_for_failure().has_value();
}

}  // namespace

REGISTER_BODY(Cuda, "magnitude_below", magnitude_below);

}  // namespace pistachio::kernels::cuda
