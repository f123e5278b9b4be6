// Final consistency check of a physical plan before it runs.
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// Checks that every column a node uses is in the layout of the corresponding input, with the right type; that layouts have no duplicates;
// that inputs have the required distribution; and that the result is on one rank. Throws InternalError,
// and Cancelled.
void check_physical_plan(const PhysicalPlan& plan, const CancelToken& token = {});

}  // namespace pistachio
