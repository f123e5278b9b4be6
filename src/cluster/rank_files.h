// Files that are local to each rank (local_files=on): {rank} in a path is replaced by the rank number.
#pragma once

#include <string>
#include <vector>

#include "base/task.h"
#include "storage/parquet_table.h"

namespace pistachio {

std::string path_for_rank(std::string path, int rank);

// Lists the files that the patterns denote on this rank. The listing keeps the original patterns, so that other ranks resolve them to
// their own files.
Task<TableListing> list_rank_table(StorageContext& storage, std::vector<std::string> patterns, int rank);

// Opens the files that rank 0 listed, or those of this rank if it listed none.
Task<ParquetTable> open_rank_table(StorageContext& storage, TableListing listing, int rank);

}  // namespace pistachio
