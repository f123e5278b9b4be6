#include "exec/operators/bit_state.h"

#include "exec/core/growing_column.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

BitState::BitState(LogicalType type, kernels::BitOp op, at::Device device)
    : type_(type),
      op_(op),
      bits_(at::zeros({0}, at::TensorOptions(type.scalar_type()).device(device))),
      seen_(at::zeros({0}, at::TensorOptions(at::kBool).device(device))) {}

void BitState::set_groups(int64_t groups) {
  bits_ = with_room(bits_, bits_.size(0), groups);
  seen_ = with_room(seen_, seen_.size(0), groups);
  groups_ = groups;
}

std::vector<Column> BitState::columns_of(const at::Tensor& rows) const {
  return {Column::fixed(type_, kernels::gather_rows(bits_, rows), kernels::gather_rows(seen_, rows))};
}

Column BitState::finish(const AggregateCall&, int64_t groups) const {
  return Column::fixed(type_, bits_.narrow(0, 0, groups).clone(), seen_.narrow(0, 0, groups).clone());
}

void BitState::add_rows(const at::Tensor& ids, const Column& rows) {
  // Narrowed to the groups in use: the kernel has a fast path for a single group.
  at::Tensor bits = bits_.narrow(0, 0, groups_), seen = seen_.narrow(0, 0, groups_);
  kernels::segment_bits(bits, seen, ids, rows.values(), op_, rows.validity());
}

}  // namespace pistachio
