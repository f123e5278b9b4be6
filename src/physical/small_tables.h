// Tables so small that every rank rather reads them itself than gets their rows from others.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Whether the node is a scan of a small table, dealt out to the ranks, with nothing above it but filters and projections that give every
// rank the same rows.
bool is_small_table(const PhysicalNode& node);

// Makes every rank read all of it.
void read_everywhere(PhysicalNode& node, const PhysicalPlan& plan);

}  // namespace pistachio
