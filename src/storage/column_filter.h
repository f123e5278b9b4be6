// Evaluates a storage filter on a decoded column; on dictionary columns once per entry.
#pragma once

#include "data/column.h"
#include "storage/range_filter.h"

namespace pistachio {

// Which rows pass; no mask if all or none do.
struct FilterOutcome {
  bool all = false;
  bool none = false;
  at::Tensor mask;  // defined if neither `all` nor `none`
};

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter);

}  // namespace pistachio
