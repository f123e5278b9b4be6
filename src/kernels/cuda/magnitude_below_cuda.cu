// The magnitudes of decimals on the GPU: one pass; failing rows are reported to the error flag.
#include "kernels/cuda/magnitude_below_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/wide_number.h"

namespace pistachio::kernels::cuda {

namespace {

template <typename Stored>
__device__ auto number_of(Stored value) {
  if constexpr (std::is_same_v<Stored, WideWords>) {
    return wide_number(value);
  } else {
    return static_cast<int64_t>(value);
  }
}

template <typename Stored, typename Number>
struct CheckMagnitude {
  const Stored* values;
  const bool* valid;
  Number bound;
  unsigned long long* error_word;

  __device__ void operator()(int64_t row) const {
    const Number value = number_of(values[row]);
    if ((value >= bound || value <= -bound) && (valid == nullptr || valid[row])) report_failure(error_word, row, 0);
  }
};

}  // namespace

void check_magnitudes(ValueKind kind, const void* values, const bool* valid, int64_t rows, WideWords bound, const DeviceErrorFlag& errors,
                      cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using Stored = decltype(type);
    const auto* numbers = static_cast<const Stored*>(values);
    if constexpr (std::is_same_v<Stored, int32_t> || std::is_same_v<Stored, int64_t>) {
      for_rows(rows, CheckMagnitude<Stored, int64_t>{numbers, valid, bound.low, errors.device_word()}, stream);
    } else if constexpr (std::is_same_v<Stored, WideWords>) {
      for_rows(rows, CheckMagnitude<Stored, WideInt>{numbers, valid, wide_number(bound), errors.device_word()}, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
