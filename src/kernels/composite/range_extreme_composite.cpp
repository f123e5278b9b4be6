// Reference body of range_extreme: stock ATen calls on any device.
#include "kernels/composite/range_fold.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor range_extreme(const at::Tensor& words, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                         bool take_max, const std::optional<at::Tensor>& stop) {
  at::Tensor rows = at::arange(words.numel(), words.options());
  if (validity) rows = rows.masked_fill(validity->logical_not(), -1);
  const at::Tensor no_word = at::zeros({1}, words.options()), no_row = at::full({1}, -1, words.options());
  const auto combine = [&](const FoldState& left, const FoldState& right) -> FoldState {
    const at::Tensor better = take_max ? right[0].gt(left[0]) : right[0].lt(left[0]);
    const at::Tensor takes_right = right[1].ge(0).logical_and(left[1].lt(0).logical_or(better));
    return {at::where(takes_right, right[0], left[0]), at::where(takes_right, right[1], left[1])};
  };
  return fold_ranges({words, rows}, {no_word, no_row}, begins, ends, stop, combine)[1];
}

}  // namespace

REGISTER_BODY(Composite, "range_extreme", range_extreme);

}  // namespace pistachio::kernels::composite
