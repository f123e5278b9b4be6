// Reference bodies of range_sum and range_sum_float: stock ATen calls on any device. Exact sums are differences of running sums of 32-bit
// digits, which cannot overflow.

#include <vector>

#include "base/error.h"
#include "kernels/composite/range_fold.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

constexpr int64_t digit_bits = 32;
constexpr int64_t digit_mask = (int64_t{1} << digit_bits) - 1;

// Four digits of a number of two words, the lowest first; the highest has the sign.
std::vector<at::Tensor> digits_of(const at::Tensor& values) {
  const bool wide = is_wide(values);
  const at::Tensor low = wide ? values.select(1, 0) : values.to(at::kLong);
  const at::Tensor high = wide ? values.select(1, 1) : low.bitwise_right_shift(63);
  const auto upper = [](const at::Tensor& word) { return word.bitwise_right_shift(digit_bits); };
  return {low.bitwise_and(digit_mask), upper(low).bitwise_and(digit_mask), high.bitwise_and(digit_mask), upper(high)};
}

at::Tensor sum_digits(at::Tensor digits, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends) {
  if (validity) digits = digits.masked_fill(validity->logical_not(), 0);
  const at::Tensor running = concatenate_tensors({at::zeros({1}, digits.options()), digits.cumsum(0)});
  const at::Tensor lasts = at::where(ends.gt(begins), ends, begins);
  const auto at_places = [&](const at::Tensor& places) { return running.index_select(0, places.reshape({-1})).view(places.sizes()); };
  return (at_places(lasts) - at_places(begins)).sum(0);
}

at::Tensor range_sum(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                     const std::optional<at::Tensor>&) {
  std::vector<at::Tensor> sums;
  for (const at::Tensor& digits : digits_of(values)) sums.push_back(sum_digits(digits, validity, begins, ends));
  for (size_t i = 0; i + 1 < sums.size(); ++i) {
    sums[i + 1] = sums[i + 1] + sums[i].bitwise_right_shift(digit_bits);
    sums[i] = sums[i].bitwise_and(digit_mask);
  }
  const at::Tensor top = sums[3].bitwise_left_shift(digit_bits).bitwise_right_shift(digit_bits);
  if (top.ne(sums[3]).any().item<bool>()) throw UserError("sum out of range");
  return at::stack({sums[0] + sums[1].bitwise_left_shift(digit_bits), sums[2] + sums[3].bitwise_left_shift(digit_bits)}, 1);
}

at::Tensor range_sum_float(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                           const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  at::Tensor numbers = values.to(at::kDouble);
  if (validity) numbers = numbers.masked_fill(validity->logical_not(), 0);
  const at::Tensor none = at::zeros({1}, numbers.options());
  return fold_ranges({numbers}, {none}, begins, ends, stop,
                     [](const FoldState& left, const FoldState& right) -> FoldState { return {left[0] + right[0]}; })[0];
}

}  // namespace

REGISTER_BODY(Composite, "range_sum", range_sum);
REGISTER_BODY(Composite, "range_sum_float", range_sum_float);

}  // namespace pistachio::kernels::composite
