// Files that are local to each rank (local_files=on): {rank} in a path is replaced by the rank number.
#pragma once

#include <string>
#include <vector>

#include "base/task.h"
#include "storage/parquet_table.h"

namespace pistachio {

std::string path_for_rank(std::string path, int rank);

// Opens what the patterns mean on this rank. The table remembers the patterns as they are, so that they mean their own files on others.
Task<ParquetTable> open_rank_table(StorageContext& storage, std::vector<std::string> patterns, int rank);

}  // namespace pistachio
