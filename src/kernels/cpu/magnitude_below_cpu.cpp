// CPU body of magnitude_below. First a pass that only ORs the magnitudes: it costs little more than reading the values and settles nearly
// every column, whose values are far below the bound.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace pistachio::kernels::cpu {

namespace {

template <typename T>
bool all_below(const T* values, int64_t rows, int64_t bound) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned bits = 0;
  // Of a negative value -v the complement v - 1, which needs no more bits than v.
  for (int64_t row = 0; row < rows; ++row) bits |= static_cast<Unsigned>(values[row] ^ (values[row] >> (sizeof(T) * 8 - 1)));
  // All magnitudes are at most 2^width.
  if (const int width = std::bit_width(bits); width < 63 && (int64_t{1} << width) < bound) return true;
  return std::all_of(values, values + rows, [bound](T value) { return value < bound && value > -bound; });
}

bool magnitude_below(const at::Tensor& values, int64_t bound) {
  if (values.scalar_type() == at::kInt) return all_below(values.const_data_ptr<int32_t>(), values.numel(), bound);
  return all_below(values.const_data_ptr<int64_t>(), values.numel(), bound);
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CPU, library) {
  library.impl("magnitude_below", TORCH_FN(magnitude_below));
}

}  // namespace pistachio::kernels::cpu
