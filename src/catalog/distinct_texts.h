// How many different values a text column of Parquet files has, from footers alone. A dictionary-coded column chunk is its dictionary (each
// value once) and codes of as many bits as the dictionary needs: its size and the length of its values give the number of entries, mostly
// to within a factor of two. No page is read, and of many row groups a bounded number is looked at.
#pragma once

#include <optional>

#include "storage/parquet_table.h"

namespace pistachio {

// Nothing if there is a chunk without a dictionary, or one whose values' lengths are not known.
std::optional<double> estimate_distinct_texts(const ParquetTable& table, size_t column);

}  // namespace pistachio
