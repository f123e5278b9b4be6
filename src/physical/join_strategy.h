// How a join finds candidate pairs: splits its conditions into hash keys, bounds on an ordered build side, and the rest. The `=`
// comparisons of a mark join become keys as well.
#pragma once

#include "physical/physical_node.h"

namespace pistachio {

// Fills in keys, bounds and conditions of the join from all its conditions, and turns its comparisons into compared keys if possible.
void choose_join_strategy(const std::vector<ExpressionPtr>& conditions, const ColumnSet& left, const ColumnSet& right, PhysicalJoin& join);

}  // namespace pistachio
