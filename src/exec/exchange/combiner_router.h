// Routes partial results to the rank that merges them in transit (PhysicalExchange::Kind::ToCombiner).
#pragma once

#include <memory>
#include <vector>

#include "exec/exchange/row_router.h"

namespace pistachio {

std::unique_ptr<RowRouter> make_combiner_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

}  // namespace pistachio
