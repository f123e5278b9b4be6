// Estimates from footers for the columns of a scan: the number of distinct values and the selectivity of the filters.
#pragma once

#include <optional>

#include "logical/logical_node.h"

namespace pistachio {

// Default selectivity of <, <=, > and >=.
constexpr double kRangeShare = 0.3;

struct DistinctValues {
  double count = 1;
  // `count` is only an upper bound: the range of the column is so sparse that few rows, if any, share a value.
  bool is_bound = false;
};

// The scan's column with this id, including those used only by filters; null if there is none.
const ScanColumn* find_scan_column(const LogicalScan& scan, ColumnId id);

// For the whole table, ignoring the scan's filters.
DistinctValues stored_values(const LogicalScan& scan, const ScanColumn& column);

// The fraction of the table's rows that passes the filters, or only those on one column.
double filter_share(const LogicalScan& scan, std::optional<ColumnId> only = std::nullopt);

}  // namespace pistachio
