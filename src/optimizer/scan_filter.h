// Which conditions storage can evaluate: a column of the scan compared with a constant.
#pragma once

#include <optional>

#include "logical/logical_node.h"
#include "storage/range_filter.h"

namespace pistachio {

// Nullopt unless storage evaluates it exactly like the expression.
std::optional<RangeFilter> to_range_filter(const Expression& condition, const LogicalScan& scan);

}  // namespace pistachio
