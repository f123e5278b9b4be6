// Asks a column chunk's bloom filter whether a value can be in it.
#pragma once

#include "base/task.h"
#include "storage/parquet_footer.h"
#include "storage/range_filter.h"
#include "storage/read_pool.h"

namespace pistachio {

// True when the chunk has no filter that can answer. A filter only saves work: a damaged one, or one that lacks the chunk's smallest or
// greatest value, answers true.
Task<bool> bloom_filter_may_match(ReadPool& pool, std::shared_ptr<DataFile> file, const ParquetColumn& column, const ColumnChunkInfo& chunk,
                                  const ColumnFilter& filter);

}  // namespace pistachio
