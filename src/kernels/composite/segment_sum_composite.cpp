// Reference body of segment_count, segment_sum, sums_fit and segment_sum_float: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>

#include "base/error.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// The valid rows.
at::Tensor valid(const at::Tensor& rows, const std::optional<at::Tensor>& validity) {
  return validity ? rows.index({*validity}) : rows;
}

void segment_count(at::Tensor& counts, const at::Tensor& ids, const std::optional<at::Tensor>& validity) {
  const at::Tensor groups = valid(ids, validity);
  counts.index_add_(0, groups, at::ones_like(groups));
}

void segment_sum(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity,
                 bool /*fit*/) {
  const at::Tensor groups = valid(ids, validity).cpu();
  const at::Tensor addends = valid(values, validity).to(at::kLong).cpu();
  const at::Tensor host_sums = sums.cpu();
  const int64_t* group = groups.const_data_ptr<int64_t>();
  const int64_t* words = addends.const_data_ptr<int64_t>();
  int64_t* state = host_sums.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < groups.numel(); ++row) {
    int64_t* sum_words = state + 2 * group[row];
    const Int128 addend = is_wide(values) ? int128_from_words(words[2 * row], words[2 * row + 1]) : Int128{words[row]};
    Int128 sum = int128_from_words(sum_words[0], sum_words[1]);
    if (__builtin_add_overflow(sum, addend, &sum)) throw UserError("sum is out of range");
    sum_words[0] = low_word(sum);
    sum_words[1] = high_word(sum);
  }
  sums.copy_(host_sums);
}

// The smallest m with |number| <= (m + 1) * 2^64 for all rows.
Int128 greatest_high_word(const at::Tensor& numbers) {
  if (numbers.size(0) == 0) return 0;
  const at::Tensor high = numbers.select(1, 1);
  return high.bitwise_xor(high.bitwise_right_shift(63)).max().item<int64_t>();
}

// No prefix of the rows of a group reaches 2^127.
bool sums_fit(const at::Tensor& sums, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const Int128 per_row = greatest_high_word(valid(values, validity)) + 1, before = greatest_high_word(sums) + 1;
  return values.size(0) * per_row + before <= Int128{1} << 63;
}

void segment_sum_float(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  sums.index_add_(0, valid(ids, validity), valid(values, validity).to(at::kDouble));
}

}  // namespace

REGISTER_BODY(Composite, "segment_count", segment_count);
REGISTER_BODY(Composite, "segment_sum", segment_sum);
REGISTER_BODY(Composite, "sums_fit", sums_fit);
REGISTER_BODY(Composite, "segment_sum_float", segment_sum_float);

}  // namespace pistachio::kernels::composite
