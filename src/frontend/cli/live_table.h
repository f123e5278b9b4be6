// A table that is printed row by row while the rows are being computed, for commands that take long. Widths come from the headings and from
// what the caller knows about its cells; a longer cell shifts the rest of its own row. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "frontend/cli/text_table.h"

namespace pistachio {

class LiveTable {
 public:
  struct Column {
    std::string heading;
    size_t width = 0;  // characters that its cells will need; the heading may need more
    TextTable::Align align = TextTable::Align::Right;
  };

  // `introduction` is printed above the headings.
  explicit LiveTable(const std::vector<Column>& columns, std::string introduction = "");

  // Prints the headings, too, if this is the first row: a command that fails before prints nothing. Throws as fmt::print does.
  void print(const std::vector<std::string>& cells);

 private:
  std::vector<TextTable::Heading> headings_;
  std::vector<size_t> widths_;
  std::string introduction_;
  bool has_headings_ = false;
};

}  // namespace pistachio
