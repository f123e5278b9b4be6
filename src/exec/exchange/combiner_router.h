// Routes partial results to the rank that merges them in transit (PhysicalExchange::Kind::ToCombiner), or past it to their destination.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "exec/exchange/row_router.h"

namespace pistachio {

std::unique_ptr<RowRouter> make_combiner_router(RunContext& context, const std::vector<const PhysicalExchange*>& chain,
                                                const std::vector<ColumnId>& layout, const std::atomic<int64_t>& waited_nanoseconds);

}  // namespace pistachio
