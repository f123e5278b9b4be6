// Routes rows by the hash of their keys (bucket_spread.h).
#pragma once

#include "exec/exchange/row_router.h"

namespace pistachio {

// Repartition. With exchange.spreads it also decides which buckets belong to all ranks, and leaves their rows where they are.
std::unique_ptr<RowRouter> make_hash_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

// The build side of such a join, already on the ranks its keys belong to: rows of buckets that belong to all go to every rank, others stay.
std::unique_ptr<RowRouter> make_spread_build_router(RunContext& context, const PhysicalExchange& exchange,
                                                    const std::vector<ColumnId>& layout);

}  // namespace pistachio
