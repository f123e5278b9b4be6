// Which scans learn of the build sides of joins above them before they read (exec/adaptive/join_filter.h).
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// For joins that are expected to drop many rows of a scan with at least so many.
void place_join_filters(PhysicalPlan& plan, double least_rows);

}  // namespace pistachio
