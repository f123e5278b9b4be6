// All join kinds. The right input is the build side, read first and retained; the left input is streamed as the probe side. Candidate pairs come from
// JoinCandidates; the remaining conditions are evaluated on them with kernel calls.
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

// How the rows of a join's inputs come to its ranks (bucket_help.h).
struct SpreadKeys {
  size_t exchange = 0;  // of the probe side
  std::vector<ExpressionPtr> probe;
  std::vector<ExpressionPtr> build;
};

class JoinOperator final : public Operator {
 public:
  // `spread`: its frequent keys are worked on by all ranks.
  JoinOperator(OperatorPtr left, OperatorPtr right, const PhysicalJoin& plan, std::vector<ColumnId> layout,
               std::vector<LogicalType> left_types, std::vector<LogicalType> right_types, std::optional<SpreadKeys> spread = std::nullopt);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class BuildSide;
  class Probe;
  class GatedProbe;
  class HelpingProbe;

  Task<void> join_after_building(RunContext& context, BuildSide& build, ChunkSink& sink);
  // Reads both inputs at the same time; rows of the left one wait for the build side.
  Task<void> join_while_building(RunContext& context, BuildSide& build, ChunkSink& sink);
  bool wants_left_rows(const BuildSide& build) const;
  Task<void> probe(RunContext& context, BuildSide& build, ChunkSink& sink);
  Task<void> produce_build_rows(RunContext& context, const BuildSide& build, at::Tensor rows, ChunkSink& sink);

  OperatorPtr left_;
  OperatorPtr right_;
  PhysicalJoin plan_;
  std::vector<LogicalType> left_types_;
  std::vector<LogicalType> right_types_;
  std::optional<SpreadKeys> spread_;
  // Which columns of the left, the right and (last) the mark go on, by place.
  std::vector<size_t> left_places_;
  std::vector<size_t> right_places_;
  bool gives_mark_ = false;
};

}  // namespace pistachio
