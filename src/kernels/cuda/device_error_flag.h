// The first failing row of a kernel call. Kernels report rows with report_failure; the host reads the flag once, at the end of the call,
// which synchronizes, or not at all if the caller defers checks (kernels/ops/deferred_checks.h).
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

enum class CheckTime { Now, Deferrable };

class DeviceErrorFlag {
 public:
  // Enqueues the reset of the flag on `stream`. Deferrable: if results are safe to compute with even where a row failed.
  explicit DeviceErrorFlag(cudaStream_t stream, CheckTime time = CheckTime::Now);
  // Written by kernels.
  unsigned long long* device_word() const { return word_; }
  // The smallest failing row. Synchronizes with the stream; if the check is deferred, returns nothing at once.
  std::optional<RowFailure> wait_for_failure() const;

 private:
  ScratchMemory memory_;
  unsigned long long* word_;
  bool is_deferred_ = false;
  cudaStream_t stream_;
};

#ifdef __CUDACC__
// Inverted, so that 0 means no failure and atomicMax keeps the smallest row.
__device__ inline void report_failure(unsigned long long* word, int64_t row, int reason) {
  atomicMax(word, ~(static_cast<unsigned long long>(row) * 2 + static_cast<unsigned long long>(reason)));
}
#endif

}  // namespace pistachio::kernels::cuda
