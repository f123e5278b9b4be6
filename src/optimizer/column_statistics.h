// What footers say about the columns of a scan: how many different values there are, and which share of the rows passes the filters.
#pragma once

#include <optional>

#include "logical/logical_node.h"

namespace pistachio {

// Of the rows, by a comparison without equality, where nothing is known.
constexpr double kRangeShare = 0.3;

struct DistinctValues {
  double count = 1;
  // Only known not to be more: a column whose values lie so far apart that few rows share one, if any.
  bool is_bound = false;
};

// The column of a scan, also one that only filters use; null: not a column of it.
const ScanColumn* find_scan_column(const LogicalScan& scan, ColumnId id);

// Of the whole table, without the scan's filters.
DistinctValues stored_values(const LogicalScan& scan, const ScanColumn& column);

// The share of the table's rows that pass the filters; of those on one column only, if one is given.
double filter_share(const LogicalScan& scan, std::optional<ColumnId> only = std::nullopt);

}  // namespace pistachio
