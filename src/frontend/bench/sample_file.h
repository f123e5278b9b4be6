// Writes a Parquet file of synthetic sales for benchmarks and tests: a sorted key, a foreign key with many values, an amount, a day, a
// flag and a remark. Deterministic.
#pragma once

#include <cstdint>
#include <string>

namespace pistachio {

struct SampleFile {
  int64_t rows = 0;
  int64_t row_group_rows = 0;
};

// Throws UserError when the file cannot be written.
void write_sample_file(const std::string& path, const SampleFile& sample);

}  // namespace pistachio
