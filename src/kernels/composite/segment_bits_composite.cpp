// Reference body of segment_bits: stock ATen calls on any device. Rows are sorted by group; each then combines with the row 1, 2, 4, ...
// places further in its group, so that the first row of a group ends up with all of them.
#include "kernels/ops/body_table.h"
#include "kernels/ops/segment_bits.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor combine_bits(BitOp op, const at::Tensor& left, const at::Tensor& right) {
  switch (op) {
    case BitOp::And: return left.bitwise_and(right);
    case BitOp::Or: return left.bitwise_or(right);
    case BitOp::Xor: return left.bitwise_xor(right);
  }
  return {};
}

void segment_bits(at::Tensor& bits, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, int64_t op,
                  const std::optional<at::Tensor>& validity) {
  const at::Tensor valid_ids = validity ? ids.masked_select(*validity) : ids;
  const int64_t rows = valid_ids.numel();
  if (rows == 0) return;
  const auto [group, order] = valid_ids.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  const at::Tensor combined = (validity ? values.masked_select(*validity) : values).index_select(0, order);
  for (int64_t step = 1; step < rows; step *= 2) {
    const int64_t pairs = rows - step;
    const at::Tensor same_group = group.narrow(0, 0, pairs).eq(group.narrow(0, step, pairs));
    if (!same_group.any().item<bool>()) break;
    at::Tensor left = combined.narrow(0, 0, pairs);
    left.copy_(at::where(same_group, combine_bits(static_cast<BitOp>(op), left, combined.narrow(0, step, pairs)), left));
  }
  at::Tensor is_first = at::ones({rows}, group.options().dtype(at::kBool));
  is_first.narrow(0, 1, rows - 1).copy_(group.narrow(0, 1, rows - 1).ne(group.narrow(0, 0, rows - 1)));
  const at::Tensor groups = group.masked_select(is_first), batch = combined.masked_select(is_first);
  const at::Tensor before = bits.index_select(0, groups);
  bits.index_copy_(0, groups, at::where(seen.index_select(0, groups), combine_bits(static_cast<BitOp>(op), before, batch), batch));
  seen.index_fill_(0, groups, true);
}

}  // namespace

REGISTER_BODY(Composite, "segment_bits", segment_bits);

}  // namespace pistachio::kernels::composite
