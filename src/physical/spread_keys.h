// Joins over ranks whose frequent keys are worked on by all ranks (exec/adaptive/bucket_spread.h): the exchanges that this takes.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// For joins whose two sides are repartitioned for it, with at least so many rows to probe. Left out are those whose result must lie by the
// keys of the join: a grouping or a further join above counts on that.
void spread_frequent_keys(PhysicalPlan& plan, double least_rows);

}  // namespace pistachio
