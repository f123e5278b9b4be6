// any_value(): the first non-NULL value of each group. Once all groups have one, further batches cost nothing.
#pragma once

#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_values.h"

namespace pistachio {

class AnyValueState final : public AggregateState {
 public:
  AnyValueState(LogicalType type, at::Device device);

  void set_groups(int64_t groups) override;
  void update(const GroupedRows& rows) override { take_first(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { take_first(ids, columns[0]); }
  Column finish(const AggregateCall&, int64_t groups) const override { return values_.finish(groups); }
  int64_t memory_bytes() const override;

 private:
  void take_first(const at::Tensor& ids, const Column& rows);

  GroupValues values_;
  at::Tensor first_rows_;  // int64: row of the group's value in the batch that brought it
  at::Tensor seen_;        // bool: whether the group has a value
  int64_t groups_with_value_ = 0;
};

}  // namespace pistachio
