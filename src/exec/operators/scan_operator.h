// Leaf operators: scans of Parquet files, of files of rows and of in-memory tables, and constant rows.
#pragma once

#include <functional>

#include "catalog/table.h"
#include "exec/core/operator.h"
#include "exec/operators/shared_units.h"
#include "expr/expression_evaluator.h"
#include "physical/physical_node.h"
#include "storage/scan_plan.h"

namespace pistachio {

struct ScanCounters;

class ScanOperator final : public Operator {
 public:
  // `number`: of this scan within the plan, the same on all ranks, in the order in which scans are needed. `scans_of_files`: number of
  // scans that share the query's memory for scans.
  ScanOperator(std::vector<ColumnId> layout, const PhysicalScan& scan, uint32_t number, size_t scans_of_files);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Task<void> produce_counts(RunContext& context, ChunkSink& sink);
  Task<void> produce_files(RunContext& context, ChunkSink& sink);
  // A scan of files about to run. `select`: the rows of a scanned chunk that the operator passes on.
  struct FileScan {
    StorageContext& storage;
    ScanPlan& plan;
    ScanCounters& counters;
    SharedUnits* units;
    const std::function<Chunk(Chunk)> select;
  };
  Task<void> scan_on_host(RunContext& context, const FileScan& files, ChunkSink& sink);
  Task<void> scan_on_device(RunContext& context, const FileScan& files, ChunkSink& sink);
  ScanRequest request_for(RunContext& context, std::vector<RangeFilter> filters, const CancelToken& token);
  // No column is wanted, only the number of rows that pass the filters.
  bool only_filters() const { return sources_.empty(); }
  // Number of scans that share a query's memory for scans, including this one.
  int64_t memory_shares(const RunContext& context) const;
  ScanPlan plan_within(ScanLimits limits, const ScanRequest& request, int64_t threads) const;
  // This rank's share of a table whose units are dealt to all ranks.
  std::unique_ptr<SharedUnits> share_units(RunContext& context, ScanPlan& plan);
  Task<void> produce_row_files(RunContext& context, ChunkSink& sink);
  Task<void> produce_chunks(RunContext& context, ChunkSink& sink);
  // Waits for the join filters and appends their bounds. False: a build side is empty, so no row can match.
  Task<bool> wait_for_joins(RunContext& context, std::vector<RangeFilter>& bounds);
  // Whether storage can test rows for the filter before it decodes other columns.
  bool is_tested_by_storage(const ScanJoinFilter& filter) const;
  std::vector<ScanRequest::Test> tests_of_joins(RunContext& context);
  std::optional<ScanRequest::Threshold> threshold_of_sort(RunContext& context, const CancelToken& token) const;
  ScanRequest::Test test_of_rows(const CancelToken& token) const;
  Chunk passing(RunContext& context, Chunk chunk, const CancelToken& token);

  TablePtr table_;
  std::vector<size_t> sources_;
  std::vector<RangeFilter> filters_;
  bool is_split_;  // each rank reads a share of the files
  std::vector<ScanJoinFilter> join_filters_;
  std::optional<ScanTopFilter> top_filter_;
  // A condition on these columns of the layout; null without row tests.
  std::vector<size_t> tested_;
  std::unique_ptr<const ExpressionEvaluator> row_test_;
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
