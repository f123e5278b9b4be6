// What a scan will read: output columns, bound filters, and the units of work (row groups, or parts of large ones) that remain after
// pruning by partition values and row-group statistics. Needs only footers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/column.h"
#include "storage/parquet_table.h"
#include "storage/range_filter.h"
#include "storage/scan_threshold.h"

namespace pistachio {

// bool [rows]: which rows pass, by the columns of the test; undefined: all. Called by several threads at the same time.
using RowTest = std::function<at::Tensor(const std::vector<Column>&)>;

struct ScanRequest {
  // A test that only the caller can evaluate, as of a join filter. Evaluated after the filters and before other columns are decoded, on the
  // host only; not for partition columns.
  struct Test {
    std::vector<std::string> columns;
    RowTest passes;
  };
  // Row groups are read in the order of this column, so that the threshold soon becomes strict. Not for partition columns.
  struct Threshold {
    std::string column;
    bool descending = false;
    bool nulls_first = false;
    ThresholdSource current;
    PassingValues add;  // may be empty
  };
  std::vector<std::string> columns;  // empty: all readable columns
  std::vector<RangeFilter> filters;
  std::vector<Test> tests;
  std::optional<Threshold> threshold;
  int64_t first_need = 0;  // priority of the scan's first unit among all scans of the query; see ReadPool::read
};

// Limits of one scan. On several ranks all must use the same: they are part of the plan.
struct ScanLimits {
  explicit ScanLimits(const Settings& settings) : memory_bytes(settings.memory_limit), chunk_rows(settings.chunk_rows) {}

  int64_t memory_bytes;  // a unit may reserve up to half of them
  int64_t chunk_rows;    // rows that are decoded together, and the longest chunk
};

struct ScanFilter {
  size_t column = 0;  // of the table; never a partition column, whose filters are evaluated when planning
  ColumnFilter filter;
  bool only_prunes = false;  // as of RangeFilter
};

struct ScanTest {
  std::vector<size_t> columns;  // of the table
  RowTest passes;
};

struct ThresholdFilter {
  size_t column = 0;  // of the table
  ThresholdSource current;
  PassingValues add;
};

struct ScanUnit {
  size_t file = 0;
  int row_group = 0;
  int64_t first_row = 0;  // of the row group
  int64_t rows = 0;
  bool is_whole_row_group = true;
  int64_t memory_bytes = 0;  // to read and decode it
  int64_t need = 0;          // read priority
};

struct ScanPlan {
  const ParquetTable* table = nullptr;
  std::vector<size_t> output_columns;
  std::vector<ScanFilter> filters;
  std::vector<ScanTest> tests;
  std::optional<ThresholdFilter> threshold;
  std::vector<ScanUnit> units;  // in reading order
  int64_t chunk_rows = 0;  // of its limits
  int64_t row_groups = 0;
  int64_t pruned_row_groups = 0;

  bool selects_rows() const { return !filters.empty() || !tests.empty() || threshold; }
  LogicalType output_type(size_t index) const { return table->columns[output_columns[index]].type; }
  const std::string& output_name(size_t index) const { return table->columns[output_columns[index]].name; }
};

// Assigns every unit to a rank, balanced by their estimated bytes: for each rank the indexes of its units, in reading order. Deterministic,
// so that all ranks compute the same shares of the same plan.
std::vector<std::vector<size_t>> deal_units(const ScanPlan& plan, int ranks);

// Gives a rank's own units priority over units of other ranks, which it may take over later.
void put_first(ScanPlan& plan, const std::vector<size_t>& share);

// `table` outlives the plan. Throws UserError for unknown or unreadable columns and constants of the wrong type.
// `threads`: large row groups are cut into parts to occupy them.
ScanPlan plan_scan(const ParquetTable& table, const ScanRequest& request, const ScanLimits& limits, int64_t threads);

}  // namespace pistachio
