#include "kernels/cuda/device_error_flag.h"

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/device_readback.h"
#include "kernels/ops/deferred_checks.h"

namespace pistachio::kernels::cuda {

DeviceErrorFlag::DeviceErrorFlag(cudaStream_t stream, CheckTime time) : stream_(stream) {
  // The word belongs to the scope, which outlives the call.
  const at::Tensor shared = time == CheckTime::Deferrable ? DeferredChecks::word_on(at::kCUDA) : at::Tensor();
  is_deferred_ = shared.defined();
  if (is_deferred_) {
    word_ = static_cast<unsigned long long*>(shared.mutable_data_ptr());
    return;
  }
  word_ = memory_.take<unsigned long long>(1);
  check_cuda(cudaMemsetAsync(word_, 0, sizeof(*word_), stream));
}

std::optional<RowFailure> DeviceErrorFlag::wait_for_failure() const {
  if (is_deferred_) return std::nullopt;
  int64_t word = 0;
  static_assert(sizeof(word) == sizeof(*word_));
  read_back(reinterpret_cast<const int64_t*>(word_), 1, &word, stream_);
  if (word == 0) return std::nullopt;
  const uint64_t key = ~static_cast<uint64_t>(word);
  return RowFailure{static_cast<int64_t>(key / 2), static_cast<int>(key % 2)};
}

}  // namespace pistachio::kernels::cuda
