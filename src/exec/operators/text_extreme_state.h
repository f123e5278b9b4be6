// min() and max() of text.
#pragma once

#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_values.h"

namespace pistachio {

class TextExtremeState final : public AggregateState {
 public:
  TextExtremeState(LogicalType type, bool take_max, at::Device device) : take_max_(take_max), best_(type, device) {}

  void set_groups(int64_t groups) override { best_.set_groups(groups); }
  void update(const GroupedRows& rows) override { compete(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { compete(ids, columns[0]); }
  Column finish(const AggregateCall&, int64_t groups) const override { return best_.finish(groups); }
  int64_t memory_bytes() const override { return best_.memory_bytes(); }

 private:
  void compete(const at::Tensor& ids, const Column& challengers);
  at::Tensor winners_of(const Column& column, const at::Tensor& ids, int64_t groups) const;

  bool take_max_;
  GroupValues best_;
};

}  // namespace pistachio
