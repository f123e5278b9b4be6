// Which conditions storage can check by itself: a column of the scan compared with a constant.
#pragma once

#include <optional>

#include "logical/logical_node.h"
#include "storage/range_filter.h"

namespace pistachio {

// Nothing if storage would not decide it exactly as the expression does.
std::optional<RangeFilter> to_range_filter(const Expression& condition, const LogicalScan& scan);

}  // namespace pistachio
