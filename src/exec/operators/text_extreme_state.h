// min() and max() of text: the best value of each group in one growing buffer. A batch costs time for its own rows, however many groups there are.
#pragma once

#include "exec/operators/aggregate_state.h"

namespace pistachio {

class TextExtremeState final : public AggregateState {
 public:
  TextExtremeState(LogicalType type, bool take_max, at::Device device);

  void set_groups(int64_t groups) override;
  void update(const GroupedRows& rows) override { compete(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { compete(ids, columns[0]); }
  Column finish(const AggregateCall& call, int64_t groups) const override;
  int64_t memory_bytes() const override;

 private:
  void compete(const at::Tensor& ids, const Column& challengers);
  at::Tensor winners_of(const Column& column, const at::Tensor& ids, int64_t groups) const;
  void replace(const at::Tensor& groups, const Column& texts);
  void compact();
  Column view() const;

  LogicalType type_;
  bool take_max_;
  int64_t groups_ = 0;
  at::Tensor begins_;
  at::Tensor ends_;
  at::Tensor seen_;  // whether the group has a value
  at::Tensor bytes_;
  int64_t used_ = 0;  // bytes: those of the best values, and those of values that were replaced
  int64_t live_ = 0;
};

}  // namespace pistachio
