// From an optimized logical plan to a physical one: chooses the algorithm of each node.
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// The root outputs exactly the plan's output columns, in order. Throws InternalError if the result is inconsistent.
// Everything is on one rank; exchange_placement.h distributes it.
PhysicalPlan plan_physical(const LogicalPlan& plan, const CancelToken& token = {});

}  // namespace pistachio
