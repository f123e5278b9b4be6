// The columns that an aggregation computes from its input rows: keys, then the arguments and filters of its calls, or their partial states.
#pragma once

#include <optional>
#include <vector>

#include "exec/operators/aggregate_state.h"
#include "expr/expression_evaluator.h"

namespace pistachio {

// The argument of a call, which must not raise an error for a row that FILTER leaves out. What stands in its place is never looked at.
ExpressionPtr guarded_argument(const ExpressionPtr& argument, const ExpressionPtr& filter);

class AggregateInputs {
 public:
  AggregateInputs(const std::vector<ColumnId>& groups, const std::vector<LogicalType>& group_types);
  void add_call(const AggregateCall& call);
  // Final aggregation: the columns of the call's partial state.
  void add_state(const AggregateCall& call, const std::vector<ColumnId>& columns);

  const std::vector<ExpressionPtr>& expressions() const { return expressions_; }

  // The rows of a chunk that one call aggregates; the chunk's columns are the values of expressions().
  struct CallRows {
    at::Tensor ids;   // group ids of the rows
    at::Tensor mask;  // which rows of the chunk; undefined: all
    std::optional<Column> argument;
  };
  CallRows rows_of_call(size_t call, const std::vector<Column>& columns, const at::Tensor& ids, bool decodes) const;
  std::vector<Column> state_of_call(size_t call, const std::vector<Column>& columns) const;

 private:
  int add(const ExpressionPtr& expression);

  std::vector<ExpressionPtr> expressions_;
  // Per call, indexes into the expressions.
  std::vector<int> argument_;  // -1: none
  std::vector<int> filter_;
  std::vector<std::vector<size_t>> states_;
};

}  // namespace pistachio
