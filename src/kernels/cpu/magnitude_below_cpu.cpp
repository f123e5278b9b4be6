// CPU body of magnitude_below. First a pass that only ORs the magnitudes: it costs little more than reading the values and settles nearly
// every column, whose values are far below the bound.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"

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

bool all_below(const int64_t* words, const bool* valid, int64_t rows, Int128 bound) {
  bool bad = false;
  for (int64_t row = 0; row < rows; ++row) {
    const Int128 number = int128_from_words(words[2 * row], words[2 * row + 1]);
    bad |= (number >= bound || number <= -bound) && (valid == nullptr || valid[row]);
  }
  return !bad;
}

template <typename T>
bool valid_below(const T* values, const bool* valid, int64_t rows, int64_t bound) {
  if (all_below(values, rows, bound)) return true;
  if (valid == nullptr) return false;
  for (int64_t row = 0; row < rows; ++row) {
    if (valid[row] && (values[row] >= bound || values[row] <= -bound)) return false;
  }
  return true;
}

bool magnitude_below(const at::Tensor& values, int64_t bound_low, int64_t bound_high, const std::optional<at::Tensor>& validity) {
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  const int64_t rows = values.size(0);
  if (is_wide(values)) return all_below(values.const_data_ptr<int64_t>(), valid, rows, int128_from_words(bound_low, bound_high));
  if (values.scalar_type() == at::kInt) return valid_below(values.const_data_ptr<int32_t>(), valid, rows, bound_low);
  return valid_below(values.const_data_ptr<int64_t>(), valid, rows, bound_low);
}

}  // namespace

REGISTER_BODY(Cpu, "magnitude_below", magnitude_below);

}  // namespace pistachio::kernels::cpu
