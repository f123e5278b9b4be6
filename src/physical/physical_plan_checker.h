// The last look at a physical plan before it runs: what a step needs is really there.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Every column that a step uses is in the layout of the input it is evaluated on, with the type it is used as; layouts name a column once;
// rows lie where the step needs them; all rows of the result are in one place. Throws InternalError.
void check_physical_plan(const PhysicalPlan& plan);

}  // namespace pistachio
