// bit_and(), bit_or() and bit_xor() of integers.
#pragma once

#include "exec/operators/aggregate_state.h"
#include "kernels/ops/segment_bits.h"

namespace pistachio {

class BitState final : public AggregateState {
 public:
  BitState(LogicalType type, kernels::BitOp op, at::Device device);

  void set_groups(int64_t groups) override;
  void update(const GroupedRows& rows) override { add_rows(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { add_rows(ids, columns[0]); }
  Column finish(const AggregateCall& call, int64_t groups) const override;
  int64_t memory_bytes() const override { return static_cast<int64_t>(bits_.nbytes() + seen_.nbytes()); }

 private:
  void add_rows(const at::Tensor& ids, const Column& rows);

  LogicalType type_;
  kernels::BitOp op_;
  at::Tensor bits_;
  at::Tensor seen_;
  int64_t groups_ = 0;
};

}  // namespace pistachio
