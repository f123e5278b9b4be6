// Routes rows by the hash of their keys (bucket_spread.h).
#pragma once

#include "exec/exchange/row_router.h"

namespace pistachio {

// Repartition. With exchange.spreads it also decides which buckets are spread over all ranks, and leaves their rows where they are.
std::unique_ptr<RowRouter> make_hash_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

// For the build side of such a join, whose rows are already on the owners of their buckets: rows of spread buckets are broadcast, others
// stay.
std::unique_ptr<RowRouter> make_spread_build_router(RunContext& context, const PhysicalExchange& exchange,
                                                    const std::vector<ColumnId>& layout);

}  // namespace pistachio
