// Reference body of summarize and summarize_dictionary: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>

#include <limits>

#include "base/error.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor summarize_wide(const at::Tensor& values) {
  const at::Tensor words = values.cpu();
  auto rows = words.accessor<int64_t, 2>();
  Int128 min = 0, max = 0, sum = 0;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const Int128 value = int128_from_words(rows[i][0], rows[i][1]);
    min = i == 0 || value < min ? value : min;
    max = i == 0 || value > max ? value : max;
    if (__builtin_add_overflow(sum, value, &sum)) throw UserError("the sum of decimals does not fit 38 digits");
  }
  return at::tensor({rows.size(0), low_word(min), high_word(min), low_word(max), high_word(max), low_word(sum), high_word(sum)}, at::kLong);
}

at::Tensor summarize_integers(const at::Tensor& values) {
  const at::Tensor wide = values.to(at::kLong);
  if (wide.numel() == 0) return at::zeros({5}, at::kLong);
  // int64 sums of 32-bit halves cannot overflow; combined they are exact.
  const Int128 low_sum = wide.bitwise_and(0xffffffff).sum().item<int64_t>();
  const Int128 high_sum = wide.bitwise_right_shift(32).sum().item<int64_t>();
  const Int128 sum = high_sum * (Int128{1} << 32) + low_sum;
  return at::tensor({wide.numel(), wide.min().item<int64_t>(), wide.max().item<int64_t>(), low_word(sum), high_word(sum)}, at::kLong);
}

at::Tensor summarize_floats(const at::Tensor& values) {
  const at::Tensor wide = values.to(at::kDouble);
  if (wide.numel() == 0) return at::zeros({4}, at::kDouble);
  const at::Tensor numbers = wide.index({wide.isnan().logical_not()});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double min = numbers.numel() > 0 ? numbers.min().item<double>() : nan;
  const double max = numbers.numel() < wide.numel() ? nan : wide.max().item<double>();
  return at::tensor({static_cast<double>(wide.numel()), min, max, wide.sum().item<double>()}, at::kDouble);
}

at::Tensor summarize(const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const at::Tensor valid = validity ? values.index({*validity}) : values;
  if (is_wide(values)) return summarize_wide(valid);
  return values.is_floating_point() ? summarize_floats(valid) : summarize_integers(valid);
}

at::Tensor summarize_dictionary(const at::Tensor& dictionary, const at::Tensor& codes, const std::optional<at::Tensor>& validity) {
  return summarize(dictionary.index_select(0, codes), validity);
}

}  // namespace

REGISTER_BODY(Composite, "summarize", summarize);
REGISTER_BODY(Composite, "summarize_dictionary", summarize_dictionary);

}  // namespace pistachio::kernels::composite
