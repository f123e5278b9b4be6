#include "kernels/ops/two_words.h"

#include "kernels/ops/argument_check.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor two_words(const at::Tensor& numbers) {
  if (is_wide(numbers)) return numbers;
  const at::Tensor low = numbers.to(at::kLong);
  return at::stack({low, low.bitwise_right_shift(63)}, 1);
}

}  // namespace pistachio::kernels
