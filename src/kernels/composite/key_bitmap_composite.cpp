// Reference body of key_bitmap_add and key_bitmap_test: stock ATen calls, on any device. One byte for each bit while adding.
#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

constexpr int64_t kBitsPerWord = 64;

void key_bitmap_add(at::Tensor& words, const at::Tensor& values, int64_t least) {
  const at::TensorOptions options = words.options();
  at::Tensor bits = at::zeros({words.numel() * kBitsPerWord}, options);
  bits.index_fill_(0, values.to(at::kLong) - least, 1);
  // The sum of different powers of two wraps into the sign bit as it should.
  const at::Tensor weights = at::ones({kBitsPerWord}, options).bitwise_left_shift(at::arange(kBitsPerWord, options));
  words.bitwise_or_((bits.view({words.numel(), kBitsPerWord}) * weights).sum(1));
}

// Compares before it subtracts: the difference of a value outside may wrap.
at::Tensor key_bitmap_test(const at::Tensor& words, const at::Tensor& values, int64_t least) {
  const at::Tensor numbers = values.to(at::kLong);
  const at::Tensor bits = numbers - least;
  const at::Tensor is_inside = numbers.ge(least).logical_and(bits.ge(0)).logical_and(bits.lt(words.numel() * kBitsPerWord));
  if (words.numel() == 0) return is_inside;
  const at::Tensor places = bits.masked_fill(is_inside.logical_not(), 0);
  const at::Tensor holders = words.index_select(0, places.bitwise_right_shift(6));
  const at::Tensor bit = at::ones_like(places).bitwise_left_shift(places.bitwise_and(kBitsPerWord - 1));
  return holders.bitwise_and(bit).ne(0).logical_and(is_inside);
}

}  // namespace

REGISTER_BODY(Composite, "key_bitmap_add", key_bitmap_add);
REGISTER_BODY(Composite, "key_bitmap_test", key_bitmap_test);

}  // namespace pistachio::kernels::composite
