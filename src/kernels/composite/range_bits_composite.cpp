// Reference body of range_bits: stock ATen calls on any device.
#include "kernels/composite/range_fold.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/range_bits.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor range_bits(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                      int64_t op, const std::optional<at::Tensor>& stop) {
  const auto kind = static_cast<BitOp>(op);
  const at::Tensor none = at::full({1}, kind == BitOp::And ? -1 : 0, values.options());
  const at::Tensor bits = validity ? at::where(*validity, values, none) : values;
  const auto combine = [&](const FoldState& left, const FoldState& right) -> FoldState {
    if (kind == BitOp::And) return {left[0].bitwise_and(right[0])};
    return {kind == BitOp::Or ? left[0].bitwise_or(right[0]) : left[0].bitwise_xor(right[0])};
  };
  return fold_ranges({bits}, {none}, begins, ends, stop, combine)[0];
}

}  // namespace

REGISTER_BODY(Composite, "range_bits", range_bits);

}  // namespace pistachio::kernels::composite
