// Records that cannot be read: the first one ends the query with its file, line and column, or all are skipped and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace pistachio {

// What a scan does about them. Shared by its lanes.
struct BadRecordPolicy {
  bool skips = false;
  std::atomic<int64_t> skipped = 0;
};

// A block of text as far as errors name it.
struct BlockPlace {
  std::string_view file;
  int64_t first_line = 1;  // of the block's first byte
  char line_end = '\n';
};

// The line of the byte at `offset` of a block.
int64_t line_of(const BlockPlace& place, std::string_view text, size_t offset);

// Throws DataError, or counts the record if bad records are skipped. `column`: its name, empty if the record as a whole is bad.
void report_bad_record(BadRecordPolicy& policy, const BlockPlace& place, std::string_view text, size_t offset, std::string_view column,
                       const std::string& problem);

// A value as errors quote it: shortened, control characters visible.
std::string quoted_value(std::string_view text);

}  // namespace pistachio
