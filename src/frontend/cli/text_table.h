// A small text table for terminals: column widths from the content, numbers right-aligned. Widths count code points.
#pragma once

#include <string>
#include <vector>

namespace pistachio {

class TextTable {
 public:
  enum class Align { Left, Right };

  struct Heading {
    std::string text;
    Align align = Align::Left;
  };

  explicit TextTable(std::vector<Heading> headings) : headings_(std::move(headings)) {}

  void add(std::vector<std::string> cells);
  // Cells longer than `widest` are truncated with an ellipsis.
  std::string to_string(size_t widest = 40) const;

 private:
  std::vector<Heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

// A line of a table and the rule below its headings: cells padded to their column's width in characters, two spaces between them.
std::string table_line(const std::vector<TextTable::Heading>& headings, const std::vector<size_t>& widths,
                       const std::vector<std::string>& cells);
std::string table_rule(const std::vector<size_t>& widths);

// 6001215 -> 6,001,215
std::string with_thousands(int64_t number);

}  // namespace pistachio
