// Reference body of key_filter_add and key_filter_test: stock ATen calls or scalar loops, slow and simple, on any device.
#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

// The positions of each hash's three bits in the whole filter: int64 [n, 3].
at::Tensor bit_numbers(const at::Tensor& words, const at::Tensor& hashes) {
  int64_t size_bits = 0;
  while ((int64_t{1} << size_bits) < words.size(0)) ++size_bits;
  const at::Tensor word = hashes.bitwise_right_shift(64 - size_bits).bitwise_and(words.size(0) - 1);
  std::vector<at::Tensor> numbers;
  for (int64_t shift : {0, 6, 12}) numbers.push_back(word.mul(64).add(hashes.bitwise_right_shift(shift).bitwise_and(63)));
  return at::stack(numbers, 1);
}

// bool [words * 64]
at::Tensor bits_of(const at::Tensor& words) {
  const at::Tensor places = at::arange(64, words.options());
  return words.unsqueeze(1).bitwise_right_shift(places).bitwise_and(1).to(at::kBool).view({-1});
}

void key_filter_add(at::Tensor& words, const at::Tensor& hashes) {
  at::Tensor bits = bits_of(words);
  bits.index_fill_(0, bit_numbers(words, hashes).view({-1}), true);
  const at::Tensor places = at::arange(64, words.options());
  words.copy_(bits.view({-1, 64}).to(at::kLong).bitwise_left_shift(places).sum(1));
}

at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes) {
  return bits_of(words).index_select(0, bit_numbers(words, hashes).view({-1})).view({-1, 3}).all(1);
}

}  // namespace

REGISTER_BODY(Composite, "key_filter_add", key_filter_add);
REGISTER_BODY(Composite, "key_filter_test", key_filter_test);

}  // namespace pistachio::kernels::composite
