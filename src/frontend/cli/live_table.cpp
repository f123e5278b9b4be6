#include "frontend/cli/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "frontend/cli/display_text.h"

namespace pistachio {

LiveTable::LiveTable(const std::vector<Column>& columns, std::string introduction) : introduction_(std::move(introduction)) {
  for (const Column& column : columns) {
    headings_.push_back({column.heading, column.align});
    widths_.push_back(std::max(column.width, display_width(column.heading)));
  }
}

void LiveTable::print(const std::vector<std::string>& cells) {
  std::string text;
  if (!has_headings_) {
    std::vector<std::string> names;
    for (const TextTable::Heading& heading : headings_) names.push_back(heading.text);
    text = introduction_ + table_line(headings_, widths_, names) + table_rule(widths_);
    has_headings_ = true;
  }
  fmt::print("{}", text + table_line(headings_, widths_, cells));
  std::fflush(stdout);
}

}  // namespace pistachio
