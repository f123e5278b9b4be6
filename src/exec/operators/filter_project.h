// Filter and projection: expressions evaluated on each chunk as it streams by.
#pragma once

#include "exec/core/operator.h"
#include "expr/expression_evaluator.h"

namespace pistachio {

// Keeps the rows for which all conditions are true.
class FilterOperator final : public Operator {
 public:
  FilterOperator(OperatorPtr input, std::vector<ExpressionPtr> conditions);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  ExpressionEvaluator condition_;
};

class ProjectOperator final : public Operator {
 public:
  ProjectOperator(OperatorPtr input, std::vector<ColumnId> layout, const std::vector<ExpressionPtr>& columns);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  ExpressionEvaluator columns_;
};

}  // namespace pistachio
