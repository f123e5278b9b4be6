#include "kernels/cuda/device_error_flag.h"

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/device_readback.h"

namespace pistachio::kernels::cuda {

namespace {
constexpr int clear_byte = 0x7f;
constexpr int64_t clear_word = 0x7f7f7f7f7f7f7f7f;  // greater than every row
}  // namespace

DeviceErrorFlag::DeviceErrorFlag(cudaStream_t stream) : word_(memory_.take<long long>(1)), stream_(stream) {
  check_cuda(cudaMemsetAsync(word_, clear_byte, sizeof(*word_), stream));
}

std::optional<RowFailure> DeviceErrorFlag::wait_for_failure() const {
  int64_t word = 0;
  static_assert(sizeof(word) == sizeof(*word_));
  read_back(reinterpret_cast<const int64_t*>(word_), 1, &word, stream_);
  if (word == clear_word) return std::nullopt;
  return RowFailure{word / 2, static_cast<int>(word % 2)};
}

}  // namespace pistachio::kernels::cuda
