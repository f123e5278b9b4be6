// The sources of rows: tables of files, tables in memory, and constants.
#pragma once

#include "catalog/table.h"
#include "exec/operator.h"
#include "storage/scan_plan.h"

namespace pistachio {

class ScanOperator final : public Operator {
 public:
  // `sources[i]` is the table column behind layout()[i].
  ScanOperator(std::vector<ColumnId> layout, TablePtr table, std::vector<size_t> sources, std::vector<RangeFilter> filters, bool is_split);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Task<void> produce_counts(RunContext& context, ChunkSink& sink);
  Task<void> produce_files(RunContext& context, ChunkSink& sink);
  Task<void> produce_chunks(RunContext& context, ChunkSink& sink);

  TablePtr table_;
  std::vector<size_t> sources_;
  std::vector<RangeFilter> filters_;
  bool is_split_;  // this rank reads its share of the files
};

class ValuesOperator final : public Operator {
 public:
  ValuesOperator(std::vector<ColumnId> layout, Chunk rows) : Operator(std::move(layout)), rows_(std::move(rows)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  Chunk rows_;
};

}  // namespace pistachio
