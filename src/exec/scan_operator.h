// The sources of rows: tables of files, tables in memory, and constants.
#pragma once

#include "catalog/table.h"
#include "exec/operator.h"
#include "physical/physical_node.h"
#include "storage/scan_plan.h"

namespace pistachio {

class ScanOperator final : public Operator {
 public:
  // `sources[i]` is the table column behind layout()[i].
  ScanOperator(std::vector<ColumnId> layout, const PhysicalScan& scan);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Task<void> produce_counts(RunContext& context, ChunkSink& sink);
  Task<void> produce_files(RunContext& context, ChunkSink& sink);
  Task<void> produce_chunks(RunContext& context, ChunkSink& sink);
  // Waits until it is known what the build sides of joins hold. False: no row can find a partner.
  Task<bool> wait_for_joins(RunContext& context, std::vector<RangeFilter>& bounds);
  Chunk passing(RunContext& context, Chunk chunk);

  TablePtr table_;
  std::vector<size_t> sources_;
  std::vector<RangeFilter> filters_;
  bool is_split_;  // this rank reads its share of the files
  std::vector<ScanJoinFilter> join_filters_;
};

class ValuesOperator final : public Operator {
 public:
  ValuesOperator(std::vector<ColumnId> layout, Chunk rows) : Operator(std::move(layout)), rows_(std::move(rows)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Chunk rows_;
};

}  // namespace pistachio
