// The Parquet files of the on-path benchmark: one per rank, with a column k of keys (on_path_model.h). Rank 0, the sink, has a file without
// rows. Deterministic, so they are generated once and cached.
#pragma once

#include <string>

#include "frontend/bench/on_path_model.h"

namespace pistachio {

// Generates the files in the folder unless they exist; returns their common path, in which {rank} stands for the rank (local_files). Throws
// UserError.
std::string ensure_on_path_tables(const std::string& folder, const OnPathData& data);

// Counts the distinct keys. The count is computed where the distinct keys are, so it adds nothing to the rows that are moved.
std::string on_path_query(const std::string& path);

}  // namespace pistachio
