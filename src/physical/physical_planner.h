// From an optimized logical plan to a physical one: the algorithm of each node is chosen here.
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// The root gives exactly the output columns of the plan, in order. Throws InternalError when the result does not hold together.
// Everything is on one rank; exchange_placement.h spreads it.
PhysicalPlan plan_physical(const LogicalPlan& plan, const CancelToken& token = {});

}  // namespace pistachio
