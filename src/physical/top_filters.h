// Decides which scans drop rows that ORDER BY with LIMIT above them no longer needs (exec/core/top_filter.h).
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// Whether a sort by these keys can tell early which rows it will not output.
bool has_threshold(const PhysicalSort& sort);

// Where the first sort key is a column of files and every node in between keeps the rows of its input, or drops some.
void place_top_filters(PhysicalPlan& plan, const CancelToken& token);

}  // namespace pistachio
