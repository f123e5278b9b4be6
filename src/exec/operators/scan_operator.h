// Leaf operators: scans of files and of in-memory tables, and constant rows.
#pragma once

#include "catalog/table.h"
#include "exec/core/operator.h"
#include "exec/operators/shared_units.h"
#include "physical/physical_node.h"
#include "storage/scan_plan.h"

namespace pistachio {

class ScanOperator final : public Operator {
 public:
  // `sources[i]` is the table column behind layout()[i]. `number` is the scan's among those of the plan, on all ranks, in
  // the order in which they are needed; `scans_of_files` share the memory for scans.
  ScanOperator(std::vector<ColumnId> layout, const PhysicalScan& scan, uint32_t number, size_t scans_of_files);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Task<void> produce_counts(RunContext& context, ChunkSink& sink);
  Task<void> produce_files(RunContext& context, ChunkSink& sink);
  // How many scans share a query's memory for scans, this one included.
  int64_t memory_shares(const RunContext& context) const;
  ScanPlan plan_within(ScanLimits limits, const ScanRequest& request, int64_t threads) const;
  // What this rank reads of a table that is dealt to all ranks.
  std::unique_ptr<SharedUnits> share_units(RunContext& context, ScanPlan& plan);
  Task<void> produce_chunks(RunContext& context, ChunkSink& sink);
  // Waits until it is known what the build sides of joins hold. False: no row can find a partner.
  Task<bool> wait_for_joins(RunContext& context, std::vector<RangeFilter>& bounds);
  // Whether storage can test rows for the filter before it decodes other columns.
  bool is_tested_by_storage(const ScanJoinFilter& filter) const;
  std::vector<ScanRequest::Test> tests_of_joins(RunContext& context);
  Chunk passing(RunContext& context, Chunk chunk);

  TablePtr table_;
  std::vector<size_t> sources_;
  std::vector<RangeFilter> filters_;
  bool is_split_;  // this rank reads its share of the files
  std::vector<ScanJoinFilter> join_filters_;
  const uint32_t number_;
  const size_t scans_of_files_;
};

class ValuesOperator final : public Operator {
 public:
  ValuesOperator(std::vector<ColumnId> layout, Chunk rows) : Operator(std::move(layout)), rows_(std::move(rows)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Chunk rows_;
};

}  // namespace pistachio
