// Finds where the records of a JSON file end, so that its text can be cut into blocks of whole records. Sees the text of a file in order:
// it knows whether an array goes on, and refuses text between records that is no JSON. One task at a time.
#pragma once

#include <cstddef>
#include <string_view>

#include "readers/bad_records.h"
#include "readers/json_layout.h"

namespace pistachio {

class JsonSplitter {
 public:
  explicit JsonSplitter(JsonLayout layout) : layout_(layout) {}

  // The end of the last whole record of `text`; 0 if there is none. The next text begins there. `ends_file`: nothing follows, so that all
  // of the text is records. Throws DataError where an array or loose records are damaged or end too early; lines are left to the parser.
  size_t end_of_records(std::string_view text, const BlockPlace& place, bool ends_file);

 private:
  enum class Expected : uint8_t { FirstElement, NextElement, Comma, Nothing };  // what comes next in an array

  const JsonLayout layout_;
  Expected expected_ = Expected::FirstElement;
};

}  // namespace pistachio
