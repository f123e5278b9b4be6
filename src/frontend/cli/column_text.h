// The values of a column as text, back to back in one buffer: a printer formats a chunk column by column, each with the loop of its type,
// and then only copies. The buffers stay for the next chunk; of a dictionary that chunks share, each entry is formatted once. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/column.h"

namespace pistachio {

// How a format writes values.
struct ValueStyle {
  std::string_view null_text;
  // Puts this around what is neither number nor truth value nor text, and around numbers that are not finite.
  std::string_view quote;
  // Writes text, with whatever quotes and escapes the format wants.
  void (*append_text)(std::string& target, std::string_view text);
};

class ColumnText {
 public:
  explicit ColumnText(const ValueStyle& style) : style_(style) {}

  // Forgets the values before.
  void assign(const Column& column);
  std::string_view operator[](size_t row) const {
    size_t place = codes_.empty() ? row : static_cast<size_t>(codes_[row]);
    return std::string_view(bytes_).substr(place == 0 ? 0 : ends_[place - 1], length(place));
  }
  // Of all rows together.
  size_t total_bytes() const;

 private:
  size_t length(size_t place) const { return ends_[place] - (place == 0 ? 0 : ends_[place - 1]); }
  void format(const Column& plain);
  void end_value() { ends_.push_back(bytes_.size()); }

  ValueStyle style_;
  std::string bytes_;
  std::vector<size_t> ends_;                  // of the values, or of the entries of a dictionary and NULL
  std::vector<int32_t> codes_;                // which entry each row is; empty: a value for each row
  std::shared_ptr<const Column> dictionary_;  // what the entries are of
};

}  // namespace pistachio
