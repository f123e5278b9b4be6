#include "frontend/cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/cli/display_text.h"

namespace pistachio {

namespace {

// Single-line, without control characters, at most `widest` columns.
std::string displayed(std::string text, size_t widest) {
  std::replace_if(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }, ' ');
  return cut_to_width(text, widest);
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string table_line(const std::vector<TextTable::Heading>& headings, const std::vector<size_t>& widths,
                       const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < widths.size() && i < cells.size(); ++i) {
    std::string padding(widths[i] - std::min(widths[i], display_width(cells[i])), ' ');
    line += headings[i].align == TextTable::Align::Right ? padding + cells[i] : cells[i] + padding;
    line += "  ";
  }
  return without_trailing_spaces(std::move(line)) + "\n";
}

std::string table_rule(const std::vector<size_t>& widths) {
  std::string rule;
  for (size_t width : widths) rule += std::string(width, '-') + "  ";
  return without_trailing_spaces(std::move(rule)) + "\n";
}

void TextTable::add(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string(size_t widest) const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> names;
  for (const Heading& heading : headings_) names.push_back(heading.text);
  lines.push_back(std::move(names));
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(displayed(cell, widest));
    lines.push_back(std::move(cells));
  }
  std::vector<size_t> widths(headings_.size());
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < widths.size() && i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  }
  std::string text;
  for (size_t index = 0; index < lines.size(); ++index) {
    text += table_line(headings_, widths, lines[index]);
    if (index == 0) text += table_rule(widths);
  }
  return text;
}

std::string with_thousands(int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

}  // namespace pistachio
