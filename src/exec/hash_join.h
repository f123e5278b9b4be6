// Hash join, all kinds. The right input is the build side: it is read first and put into a table by hash; the left input streams through.
// Candidates with equal hashes are verified by their keys, then the remaining conditions are evaluated on the pairs, all as kernel calls.
// Without keys every pair of rows is a candidate: that is the nested-loop join, in batches.
#pragma once

#include "exec/operator.h"
#include "logical/logical_node.h"

namespace pistachio {

struct JoinKey {
  ExpressionPtr left;
  ExpressionPtr right;
  bool null_safe = false;  // NULL equals NULL
};

struct HashJoinPlan {
  JoinKind kind = JoinKind::Inner;
  std::vector<JoinKey> keys;
  std::vector<ExpressionPtr> conditions;   // on pairs
  std::vector<ExpressionPtr> comparisons;  // Mark: what IN compares; may be unknown
  ColumnId mark;
  std::vector<ColumnId> output;  // the columns that go on; empty: all
};

class HashJoinOperator final : public Operator {
 public:
  HashJoinOperator(OperatorPtr left, OperatorPtr right, HashJoinPlan plan, std::vector<LogicalType> left_types,
                   std::vector<LogicalType> right_types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class BuildSide;
  class Probe;

  // Which columns of the left, the right and (last) the mark go on, by place.
  std::vector<size_t> left_places_;
  std::vector<size_t> right_places_;
  bool gives_mark_ = false;
  OperatorPtr left_;
  OperatorPtr right_;
  HashJoinPlan plan_;
  std::vector<LogicalType> left_types_;
  std::vector<LogicalType> right_types_;
};

}  // namespace pistachio
