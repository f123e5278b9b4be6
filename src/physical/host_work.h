// What runs on the host although the query runs on a GPU, for EXPLAIN: functions without a body for the GPU, and casts to and from text.
// Their arguments are copied to the host, and their results back.
#pragma once

#include <set>
#include <string>

#include "physical/physical_node.h"

namespace pistachio {

// The names of such functions and casts in a step's own expressions. Constant subexpressions do not count: they are evaluated once.
// Functions whose body for the GPU leaves rare calls to the host count as running on the GPU.
std::set<std::string> host_work(const PhysicalNode& node);

}  // namespace pistachio
