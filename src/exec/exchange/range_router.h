// Routes rows by ranges of their sort keys: rank 0 gets the first rows of the order, the last rank the last. Range bounds come from a sample of all
// ranks' rows, so that ranges are of similar size.
#pragma once

#include "exec/exchange/row_router.h"

namespace pistachio {

std::unique_ptr<RowRouter> make_range_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

}  // namespace pistachio
