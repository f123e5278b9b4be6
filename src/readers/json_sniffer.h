// Finds out from the beginning of a JSON file how its records follow each other, and which members they have. Pure; bounded by the sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readers/csv_sniffer.h"
#include "readers/json_layout.h"

namespace pistachio {

struct SniffedJson {
  JsonLayout layout = JsonLayout::Lines;
  bool are_objects = true;
  int64_t first_byte = 0;  // behind the bracket of an array
  int64_t first_line = 1;
  std::vector<std::string> names;  // of the members, in the order in which they first occur
  std::vector<ValueShapes> shapes;
  int64_t records = 0;  // in the sample
  int64_t bytes = 0;    // that they take
};

// Throws UserError if the file is no JSON, DataError if its first record is damaged.
SniffedJson sniff_json(const TextSample& sample, const ReadOptions& options);

}  // namespace pistachio
