// All join kinds. The right input is the build side, read first and retained; the left input is streamed as the probe side. A build side that
// does not fit into memory is spilled, and the left input with it (partitioned_join.h).
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "exec/operators/helping_probe.h"
#include "exec/operators/join_shape.h"

namespace pistachio {

class PartitionedRows;

class JoinOperator final : public Operator {
 public:
  // `spread`: set if its frequent keys are spread over all ranks.
  JoinOperator(OperatorPtr left, OperatorPtr right, const PhysicalJoin& plan, std::vector<ColumnId> layout,
               std::vector<LogicalType> left_types, std::vector<LogicalType> right_types, std::optional<SpreadKeys> spread = std::nullopt);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class GatedProbe;

  // Reads the right input.
  Task<void> retain_build_rows(RunContext& context, PartitionedRows& rows);
  // Builds the hash table; requires that all retained rows are in memory. Spills them if there is no memory for the table.
  Task<void> build_table(RunContext& context, PartitionedRows& rows, BuildSide& build);
  Task<void> publish_filter(RunContext& context, const BuildSide& build);
  void publish_no_filter(RunContext& context);

  Task<void> join_after_building(RunContext& context, PartitionedRows& rows, ChunkSink& sink);
  // Reads both inputs concurrently; rows of the left one wait for the build side.
  Task<void> join_while_building(RunContext& context, PartitionedRows& rows, ChunkSink& sink);
  Task<void> probe(RunContext& context, BuildSide& build, ChunkSink& sink);
  // Joins from disk, after the build side was spilled.
  Task<void> join_partitions(RunContext& context, PartitionedRows& build, PartitionedRows& left, ChunkSink& sink);
  std::shared_ptr<PartitionedRows> make_left_rows(RunContext& context);

  OperatorPtr left_;
  OperatorPtr right_;
  const JoinShape shape_;
  std::optional<SpreadKeys> spread_;
};

}  // namespace pistachio
