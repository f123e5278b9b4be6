// Estimates the number of distinct values of a text column from footers alone. A dictionary-coded column chunk consists of its dictionary
// (each value once) and codes of as many bits as the dictionary needs: its size and the length of its values give the number of entries,
// mostly to within a factor of two. Reads no pages and samples a bounded number of row groups.
#pragma once

#include <optional>

#include "storage/parquet_table.h"

namespace pistachio {

// Nullopt if a sampled chunk has no dictionary or no bounds to estimate the length of its values from.
std::optional<double> estimate_distinct_texts(const ParquetTable& table, size_t column);

}  // namespace pistachio
