// Numbers the scans of a plan, identically on all ranks, in the order in which their rows are needed: the build side of a join before its probe side.
// Pending reads are served in this order.
#pragma once

#include <cstdint>
#include <map>

#include "physical/physical_node.h"

namespace pistachio {

using ScanNumbers = std::map<const PhysicalNode*, uint32_t>;

ScanNumbers scans_in_order_of_need(const PhysicalPlan& plan);

}  // namespace pistachio
