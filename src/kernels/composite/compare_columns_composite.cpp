// Reference body of compare_columns and compare_text_columns: stock ATen calls or scalar loops, slow and simple, on any device.

#include <limits>
#include <string_view>

#include "kernels/composite/comparison_answer.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor compare_columns(const at::Tensor& left, int64_t comparison, const at::Tensor& right) {
  if (is_wide(left)) {
    constexpr int64_t sign = std::numeric_limits<int64_t>::min();  // maps unsigned to signed order
    const at::Tensor high_equal = left.select(1, 1).eq(right.select(1, 1)), high_less = left.select(1, 1).lt(right.select(1, 1));
    const at::Tensor low_less = left.select(1, 0).bitwise_xor(sign).lt(right.select(1, 0).bitwise_xor(sign));
    const at::Tensor low_equal = left.select(1, 0).eq(right.select(1, 0));
    return answer(high_less.logical_or(high_equal.logical_and(low_less)), high_equal.logical_and(low_equal), comparison);
  }
  if (!left.is_floating_point()) return answer(left.lt(right), left.eq(right), comparison);
  const at::Tensor less = left.lt(right).logical_or(left.isnan().logical_not().logical_and(right.isnan()));
  return answer(less, left.eq(right).logical_or(left.isnan().logical_and(right.isnan())), comparison);
}

// The values of a text, on the CPU.
struct HostText {
  HostText(const at::Tensor& text_bytes, const at::Tensor& text_begins, const at::Tensor& text_ends)
      : bytes(text_bytes.cpu()), begins(text_begins.cpu()), ends(text_ends.cpu()) {}
  std::string_view operator[](int64_t row) const {
    const int64_t from = begins.const_data_ptr<int64_t>()[row], to = ends.const_data_ptr<int64_t>()[row];
    return {reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()) + from, static_cast<size_t>(to - from)};
  }
  at::Tensor bytes, begins, ends;
};

at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                int64_t comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends) {
  const HostText left(left_bytes, left_begins, left_ends), right(right_bytes, right_begins, right_ends);
  const int64_t rows = left_begins.size(0);
  at::Tensor less = at::empty({rows}, at::kBool), equal = at::empty({rows}, at::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    less.mutable_data_ptr<bool>()[row] = left[row] < right[row];
    equal.mutable_data_ptr<bool>()[row] = left[row] == right[row];
  }
  return answer(less, equal, comparison).to(left_bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "compare_columns", compare_columns);
REGISTER_BODY(Composite, "compare_text_columns", compare_text_columns);

}  // namespace pistachio::kernels::composite
