// A filter that becomes stricter while the scan runs: the threshold of ORDER BY with LIMIT (exec/core/top_filter.h). It is evaluated when the
// filters are, and again just before the other columns of a row are read. Pure functions.
#pragma once

#include <functional>
#include <memory>

#include "storage/column_filter.h"
#include "storage/page_index.h"
#include "storage/parquet_footer.h"

namespace pistachio {

struct ScanThreshold {
  ColumnFilter filter;
  bool passes_nulls = false;
};

// The present threshold; null: every row passes. Called by several threads at the same time.
using ThresholdSource = std::function<std::shared_ptr<const ScanThreshold>()>;
// Takes the values of rows that pass all filters and tests, each once, before the scan delivers the rows. Called likewise.
using PassingValues = std::function<void(const Column&)>;

FilterOutcome evaluate_threshold(const Column& column, const ScanThreshold& threshold);

// Whether a row group, or one page of it, may have rows that pass.
bool may_pass(const ScanThreshold& threshold, const ParquetColumn& column, const ColumnChunkInfo& chunk);
bool may_pass(const ScanThreshold& threshold, const ParquetColumn& column, const ColumnChunkInfo& chunk, const PageRange& page);

}  // namespace pistachio
