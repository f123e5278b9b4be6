// Evaluates a storage filter on a decoded column; on dictionary columns once per entry.
#pragma once

#include "data/column.h"
#include "storage/range_filter.h"

namespace pistachio {

// Which rows pass. All or none is told without a mask.
struct FilterOutcome {
  bool all = false;
  bool none = false;
  at::Tensor mask;  // defined when neither
};

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter);

}  // namespace pistachio
