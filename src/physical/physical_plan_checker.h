// Final consistency check of a physical plan before it runs.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Checks that every column a node uses is in the layout of the corresponding input, with the right type; that layouts have no duplicates;
// that inputs have the required distribution; and that the result is on one rank. Throws InternalError.
void check_physical_plan(const PhysicalPlan& plan);

}  // namespace pistachio
