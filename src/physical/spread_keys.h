// Spreads frequent keys of distributed joins over all ranks (exec/adaptive/bucket_spread.h) by inserting the necessary exchanges.
#pragma once

#include "base/cancel_token.h"
#include "physical/physical_node.h"

namespace pistachio {

// For joins with both sides repartitioned and at least `least_rows` probe rows. Not if a grouping or join above relies on the result being
// partitioned by the join keys.
void spread_frequent_keys(PhysicalPlan& plan, double least_rows, const CancelToken& token);

}  // namespace pistachio
