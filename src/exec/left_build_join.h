// Semi and anti join that build their left side: for the case that few rows are asked whether many have a match. The left input is read
// first and put into a table by hash; the right input streams through and notes which rows of the left it meets. Those (semi) or the others
// (anti) are given at the end.
#pragma once

#include "exec/hash_join.h"
#include "exec/operator.h"

namespace pistachio {

class LeftBuildJoinOperator final : public Operator {
 public:
  // `plan` has at least one key and is a semi or anti join.
  LeftBuildJoinOperator(OperatorPtr left, OperatorPtr right, HashJoinPlan plan, std::vector<LogicalType> left_types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class BuildSide;
  class Probe;

  OperatorPtr left_;
  OperatorPtr right_;
  HashJoinPlan plan_;
  std::vector<LogicalType> left_types_;
  std::vector<size_t> places_;  // the columns of the left that go on
};

}  // namespace pistachio
