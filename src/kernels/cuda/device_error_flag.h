// The first failing row of a kernel call. Kernels report rows with report_failure; the host asks once, at the end of the call, which waits
// for the stream. A deferred check would keep the flag and ask later: only this class has to change for that.
// No torch header: .cu files read this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

struct RowFailure {
  int64_t row;
  int reason;  // 0 or 1; what they mean is up to the kernel
};

class DeviceErrorFlag {
 public:
  // Queues the reset of the flag on `stream`.
  explicit DeviceErrorFlag(cudaStream_t stream);
  // What kernels write: the smallest row * 2 + reason.
  long long* device_word() const { return word_; }
  // The smallest row that failed. Waits for the stream.
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
