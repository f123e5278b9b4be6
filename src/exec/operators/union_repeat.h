// Building blocks of set operations: concatenation of inputs, and repetition of rows.
#pragma once

#include "exec/core/operator.h"

namespace pistachio {

// All rows of its inputs, whose columns it renames by place.
class UnionOperator final : public Operator {
 public:
  UnionOperator(std::vector<ColumnId> layout, std::vector<OperatorPtr> inputs) : Operator(std::move(layout)), inputs_(std::move(inputs)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  std::vector<OperatorPtr> inputs_;
};

// Repeats each row as often as a BIGINT column says, and drops that column.
class RepeatOperator final : public Operator {
 public:
  RepeatOperator(OperatorPtr input, ColumnId count);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  size_t count_ = 0;
};

}  // namespace pistachio
