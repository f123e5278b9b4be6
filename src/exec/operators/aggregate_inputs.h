// The columns that an aggregation computes from its input rows: keys, then arguments and filters of calls, or the columns of their states.
#pragma once

#include <optional>
#include <vector>

#include "exec/operators/aggregate_state.h"
#include "expr/expression_evaluator.h"

namespace pistachio {

class AggregateInputs {
 public:
  AggregateInputs(const std::vector<ColumnId>& groups, const std::vector<LogicalType>& group_types);
  void add_call(const AggregateCall& call);
  // Final: the columns of the call's state.
  void add_state(const AggregateCall& call, const std::vector<ColumnId>& columns);

  const std::vector<ExpressionPtr>& expressions() const { return expressions_; }

  // The rows that one call takes, of a chunk whose columns are the values of expressions().
  struct CallRows {
    at::Tensor ids;   // of their groups
    at::Tensor mask;  // of the chunk's rows; undefined: all
    std::optional<Column> argument;
  };
  CallRows rows_of_call(size_t call, const std::vector<Column>& columns, const at::Tensor& ids, bool decodes) const;
  std::vector<Column> state_of_call(size_t call, const std::vector<Column>& columns) const;

 private:
  int add(const ExpressionPtr& expression);

  std::vector<ExpressionPtr> expressions_;
  // Of each call: places among the expressions.
  std::vector<int> argument_;  // -1: none
  std::vector<int> filter_;
  std::vector<std::vector<size_t>> states_;
};

}  // namespace pistachio
