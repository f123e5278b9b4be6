// The first failing row of a kernel call. Kernels report rows with report_failure; the host reads the flag once, at the end of the call,
// which synchronizes. To defer the check, only this class would have to change.
// No torch headers: .cu files include this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

struct RowFailure {
  int64_t row;
  int reason;  // 0 or 1; the kernel defines the meaning
};

class DeviceErrorFlag {
 public:
  // Enqueues the reset of the flag on `stream`.
  explicit DeviceErrorFlag(cudaStream_t stream);
  // Written by kernels: the smallest row * 2 + reason.
  long long* device_word() const { return word_; }
  // The smallest failing row. Synchronizes with the stream.
  std::optional<RowFailure> wait_for_failure() const;

 private:
  ScratchMemory memory_;
  long long* word_;
  cudaStream_t stream_;
};

#ifdef __CUDACC__
__device__ inline void report_failure(long long* word, int64_t row, int reason) {
  atomicMin(word, static_cast<long long>(row) * 2 + reason);
}
#endif

}  // namespace pistachio::kernels::cuda
