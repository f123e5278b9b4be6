// How a join finds candidates: sorts its conditions into keys for a hash table, bounds for an ordered build side, and the rest. What a mark
// join compares by `=` becomes keys as well.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Fills keys, bounds and conditions of the join from all its conditions, and turns its comparisons into compared keys where that can be.
void choose_join_strategy(const std::vector<ExpressionPtr>& conditions, const ColumnSet& left, const ColumnSet& right, PhysicalJoin& join);

}  // namespace pistachio
