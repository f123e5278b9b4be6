// Rows by ranges of their sort keys: the first rank gets the first rows of the order, the last one the last. The bounds are chosen by a
// sample of the rows of all ranks, so that the ranges hold about the same number of rows.
#pragma once

#include "exec/row_router.h"

namespace pistachio {

std::unique_ptr<RowRouter> make_range_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

}  // namespace pistachio
