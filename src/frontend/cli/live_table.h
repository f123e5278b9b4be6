// A table printed row by row while its rows are computed, for long commands. Widths come from the headings and the caller's estimates; a
// longer cell shifts the rest of its row. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "frontend/cli/text_table.h"

namespace pistachio {

class LiveTable {
 public:
  struct Column {
    std::string heading;
    size_t width = 0;  // expected width of the cells in characters; the heading may need more
    TextTable::Align align = TextTable::Align::Right;
  };

  // `introduction` is printed above the headings.
  explicit LiveTable(const std::vector<Column>& columns, std::string introduction = "");

  // The first row prints the headings too, so a command that fails before prints nothing. Throws as fmt::print does.
  void print(const std::vector<std::string>& cells);

 private:
  std::vector<TextTable::Heading> headings_;
  std::vector<size_t> widths_;
  std::string introduction_;
  bool has_headings_ = false;
};

}  // namespace pistachio
