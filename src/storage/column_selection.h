// Whole-column steps of a scan: keep the rows of a mask, open gaps for NULLs, evaluate a filter. All three forms of columns; on
// dictionary columns filters run once per entry.
#pragma once

#include "data/column.h"
#include "storage/range_filter.h"

namespace pistachio {

// Rows whose mask (bool) is true.
Column select_rows(const Column& column, const at::Tensor& mask);

// `dense` has a value for each true of `validity`; gives a column of validity's length.
Column spread_rows(const Column& dense, const at::Tensor& validity);

// Which rows pass. All or none is told without a mask.
struct FilterOutcome {
  bool all = false;
  bool none = false;
  at::Tensor mask;  // defined when neither
};

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter);

}  // namespace pistachio
