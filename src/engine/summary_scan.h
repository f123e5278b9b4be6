// Scans a table and summarizes each column: count, minimum, maximum and sum (of text: number of characters). Used by `pistachio scan` and by the scan
// benchmarks, since it touches every value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "engine/engine_instance.h"
#include "storage/scan_plan.h"
#include "storage/scan_statistics.h"

namespace pistachio {

struct ColumnTotals {
  std::string name;
  LogicalType type = TypeKind::Blob;
  int64_t count = 0;  // non-NULL values
  std::optional<ScalarValue> minimum;
  std::optional<ScalarValue> maximum;
  Int128 sum = 0;        // integers, decimals (scaled), dates (days since 1970-01-01), text (characters)
  double float_sum = 0;  // Real and Double
  int64_t text_bytes = 0;

  // Merges the totals of another lane. Throws UserError if the sum overflows.
  void add(const ColumnTotals& other);
  std::string sum_text() const;
};

struct SummaryResult {
  int64_t rows = 0;      // of the table
  int64_t selected = 0;  // passed the filters
  int64_t files = 0;
  int64_t bytes_read = 0;
  int64_t decoded_bytes = 0;  // of the selected values, as plain values
  double seconds = 0;
  int64_t row_groups = 0;
  int64_t pruned_row_groups = 0;
  int64_t pages = 0;
  int64_t skipped_pages = 0;
  int64_t peak_reserved_bytes = 0;
  std::vector<ColumnTotals> columns;
};

struct SummaryRequest {
  std::vector<std::string> paths;
  ScanRequest scan;
};

// Blocks until done. `progress` (if given) is updated while it runs. Throws UserError, DataError, OutOfMemory, Cancelled.
SummaryResult run_summary_scan(EngineInstance& engine, const Settings& settings, const SummaryRequest& request,
                               const CancelToken& token = {}, ScanCounters* progress = nullptr);

}  // namespace pistachio
