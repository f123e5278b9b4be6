// Looks up a value in a column chunk's bloom filter.
#pragma once

#include "base/task.h"
#include "storage/parquet_footer.h"
#include "storage/range_filter.h"
#include "storage/read_pool.h"

namespace pistachio {

// True if the value may be in the chunk, or if there is no usable filter: one that is damaged, or that lacks the chunk's minimum or
// maximum, is ignored.
Task<bool> bloom_filter_may_match(ReadPool& pool, std::shared_ptr<DataFile> file, const ParquetColumn& column, const ColumnChunkInfo& chunk,
                                  const ColumnFilter& filter);

}  // namespace pistachio
