#include "expr/wide_numbers.h"

#include "kernels/ops/tensor_functions.h"

#include "columns/device_copy.h"

namespace pistachio {

namespace {

constexpr double kTwo32 = 4294967296.0;
constexpr double kTwo64 = kTwo32 * kTwo32;

}  // namespace

at::Tensor wide_to_double(const at::Tensor& words) {
  // Via the magnitude, whose halves have the same sign: otherwise a small negative number loses its digits to 2^64.
  at::Tensor low = words.select(1, 0);
  at::Tensor high = words.select(1, 1);
  at::Tensor negative = high.lt(0);
  at::Tensor low_part = at::where(negative, low.neg(), low);
  at::Tensor high_part = at::where(negative, high.bitwise_not() + low.eq(0).to(at::kLong), high);
  at::Tensor upper = low_part.bitwise_right_shift(32).bitwise_and(0xffffffffLL).to(at::kDouble);
  at::Tensor lower = low_part.bitwise_and(0xffffffffLL).to(at::kDouble);
  at::Tensor magnitude = high_part.to(at::kDouble) * kTwo64 + (upper * kTwo32 + lower);
  return at::where(negative, magnitude.neg(), magnitude);
}

at::Tensor wide_constant(Int128 value, at::Device device) {
  return copied_to(at::tensor({static_cast<int64_t>(value), static_cast<int64_t>(value >> 64)}, at::kLong).view({1, 2}), device);
}

}  // namespace pistachio
