// Tables so small that every rank reads them itself instead of receiving their rows.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Whether the node is a split scan of a small table, possibly below filters and projections that are the same on every rank.
bool is_small_table(const PhysicalNode& node);

// Makes every rank read the whole table.
void read_everywhere(PhysicalNode& node, const PhysicalPlan& plan);

}  // namespace pistachio
