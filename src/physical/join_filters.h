// Decides which scans wait for a join filter from the build side of a join above them (exec/adaptive/join_filter.h).
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// For joins that are expected to drop many rows of a scan with at least `least_rows` rows.
void place_join_filters(PhysicalPlan& plan, double least_rows, const CancelToken& token);

}  // namespace pistachio
