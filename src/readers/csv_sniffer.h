// Finds out from the beginning of a CSV file how to read it: marks, header, names, types. Options that are given are kept. Pure; the work
// is bounded by the sample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/read_options.h"
#include "readers/value_shapes.h"

namespace pistachio {

struct TextSample {
  std::string path;  // for errors
  std::string text;
  bool is_whole = false;  // nothing follows it in the file
};

struct SniffedCsv {
  TextDialect dialect;
  int64_t first_byte = 0;  // of the records behind the header
  int64_t first_line = 1;  // of that byte
  bool has_header = false;
  std::vector<std::string> names;
  std::vector<ValueShapes> shapes;  // of each column
  int64_t records = 0;              // in the sample
  int64_t bytes = 0;                // that they take
  bool is_cut = false;              // the sample ends within the header or the first record: a longer one tells more
};

// `known_names`: of the files before. A first record that repeats them is the header. Throws UserError if the file is no CSV, or
// contradicts the options.
SniffedCsv sniff_csv(const TextSample& sample, const ReadOptions& options, const std::vector<std::string>& known_names = {});

// Where the text begins behind a byte order mark. Throws UserError if it is UTF-16, or another format.
size_t begin_of_text(const TextSample& sample, FileFormat wanted);

// Names for columns: blanks are trimmed, empty ones become column0, repeated ones get a number.
std::vector<std::string> usable_names(std::vector<std::string> names);

}  // namespace pistachio
