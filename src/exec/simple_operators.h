// The operators that keep nothing: scan, values, filter, project, limit, union, repeat.
#pragma once

#include "catalog/table.h"
#include "exec/operator.h"
#include "expr/expression_evaluator.h"
#include "logical/logical_node.h"
#include "storage/scan_plan.h"

namespace pistachio {

class ScanOperator final : public Operator {
 public:
  // `sources[i]` is the table column behind layout()[i].
  ScanOperator(std::vector<ColumnId> layout, TablePtr table, std::vector<size_t> sources, std::vector<RangeFilter> filters);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

  const Table& table() const { return *table_; }
  const std::vector<RangeFilter>& filters() const { return filters_; }

 private:
  Task<void> produce_files(RunContext& context, ChunkSink& sink);
  Task<void> produce_chunks(RunContext& context, ChunkSink& sink);

  TablePtr table_;
  std::vector<size_t> sources_;
  std::vector<RangeFilter> filters_;
};

class ValuesOperator final : public Operator {
 public:
  ValuesOperator(std::vector<ColumnId> layout, Chunk rows) : Operator(std::move(layout)), rows_(std::move(rows)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Chunk rows_;
};

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
  ProjectOperator(OperatorPtr input, std::vector<NamedExpression> columns);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  ExpressionEvaluator columns_;
};

// Rows [offset, offset + limit) in the order they arrive.
class LimitOperator final : public Operator {
 public:
  LimitOperator(OperatorPtr input, std::optional<int64_t> limit, int64_t offset);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  int64_t limit_;
  int64_t offset_;
};

// All rows of its inputs, whose columns it renames by place.
class UnionOperator final : public Operator {
 public:
  UnionOperator(std::vector<ColumnId> layout, std::vector<OperatorPtr> inputs) : Operator(std::move(layout)), inputs_(std::move(inputs)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  std::vector<OperatorPtr> inputs_;
};

// Each row as often as a BIGINT column says; that column does not go on.
class RepeatOperator final : public Operator {
 public:
  RepeatOperator(OperatorPtr input, ColumnId count);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  size_t count_ = 0;
};

}  // namespace pistachio
