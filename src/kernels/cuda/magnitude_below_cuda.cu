// The magnitudes of decimals on the GPU: one pass; failing rows are reported to the error flag.
#include "kernels/cuda/magnitude_below_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

template <typename Stored>
struct CheckMagnitude {
  const Stored* values;
  int64_t bound;
  unsigned long long* error_word;

  __device__ void operator()(int64_t row) const {
    const int64_t value = values[row];
    if (value >= bound || value <= -bound) report_failure(error_word, row, 0);
  }
};

}  // namespace

void check_magnitudes(ValueKind kind, const void* values, int64_t rows, int64_t bound, const DeviceErrorFlag& errors, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using Stored = decltype(type);
    if constexpr (std::is_same_v<Stored, int32_t> || std::is_same_v<Stored, int64_t>) {
      for_rows(rows, CheckMagnitude<Stored>{static_cast<const Stored*>(values), bound, errors.device_word()}, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
