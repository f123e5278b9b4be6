// What a scan will read: output columns, bound filters, and the units of work (row groups, or parts of large ones) that are left after
// partition values and row-group statistics were looked at. Made without reading anything but footers.
#pragma once

#include <string>
#include <vector>

#include "storage/parquet_table.h"
#include "storage/range_filter.h"

namespace pistachio {

struct ScanRequest {
  std::vector<std::string> columns;  // empty: all that can be read
  std::vector<RangeFilter> filters;
  int64_t first_need = 0;  // where the scan's units stand in the order of a query with several scans; see ReadPool
};

struct ScanFilter {
  size_t column = 0;  // of the table; never a partition column, those are settled by the plan
  ColumnFilter filter;
};

struct ScanUnit {
  size_t file = 0;
  int row_group = 0;
  int64_t first_row = 0;  // of the row group
  int64_t rows = 0;
  bool is_whole_row_group = true;
  int64_t memory_bytes = 0;  // to read and decode it
  int64_t need = 0;          // its place in the order of reads
};

struct ScanPlan {
  const ParquetTable* table = nullptr;
  std::vector<size_t> output_columns;
  std::vector<ScanFilter> filters;
  std::vector<ScanUnit> units;
  int64_t row_groups = 0;
  int64_t pruned_row_groups = 0;

  LogicalType output_type(size_t index) const { return table->columns[output_columns[index]].type; }
  const std::string& output_name(size_t index) const { return table->columns[output_columns[index]].name; }
};

// The places of the units that are the share of each rank, in the order of reading, where every rank makes the same plan: the shares are about
// as large as each other in bytes and together are all.
std::vector<std::vector<size_t>> deal_units(const ScanPlan& plan, int ranks);

// What a rank reads first is needed first, and the units of others, which it may take over, after its own.
void put_first(ScanPlan& plan, const std::vector<size_t>& share);

// `table` outlives the plan. Throws UserError for unknown or unreadable columns and constants of the wrong type.
ScanPlan plan_scan(const ParquetTable& table, const ScanRequest& request, const Settings& settings);

}  // namespace pistachio
