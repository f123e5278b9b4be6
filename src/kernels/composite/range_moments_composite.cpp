// Reference body of range_moments: stock ATen calls on any device.
#include "kernels/composite/range_fold.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

FoldState merge_moments(const FoldState& left, const FoldState& right) {
  const at::Tensor total = left[0] + right[0];
  const at::Tensor distance = right[1] - left[1], share = right[0] / total;
  const at::Tensor mean = left[1] + distance * share, squares = left[2] + right[2] + distance * distance * (left[0] * share);
  const at::Tensor no_left = left[0].eq(0), no_right = right[0].eq(0);
  const auto chosen = [&](const at::Tensor& merged, size_t i) { return at::where(no_left, right[i], at::where(no_right, left[i], merged)); };
  return {total, chosen(mean, 1), chosen(squares, 2)};
}

at::Tensor range_moments(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                         const std::optional<at::Tensor>& stop) {
  at::Tensor means = values.to(at::kDouble);
  if (validity) means = means.masked_fill(validity->logical_not(), 0);
  const at::Tensor counts = validity ? validity->to(at::kDouble) : at::ones_like(means);
  const at::Tensor none = at::zeros({1}, means.options());
  return at::stack(fold_ranges({counts, means, at::zeros_like(means)}, {none, none, none}, begins, ends, stop, merge_moments), 1);
}

}  // namespace

REGISTER_BODY(Composite, "range_moments", range_moments);

}  // namespace pistachio::kernels::composite
