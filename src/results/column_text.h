// The values of a column as text, back to back in one buffer: a format writes a chunk column by column, each with a loop for its type,
// and then only copies. Buffers are reused for the next chunk; entries of a dictionary shared by chunks are formatted once. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/column.h"
#include "expr/work_poll.h"

namespace pistachio {

// How a format writes values.
struct ValueStyle {
  std::string_view null_text;
  // Placed around values other than numbers, booleans and text, and around non-finite numbers.
  std::string_view quote;
  // Writes text with the format's quotes and escapes.
  std::function<void(std::string& target, std::string_view text, WorkPoll& poll)> append_text;
};

class ColumnText {
 public:
  explicit ColumnText(const ValueStyle& style) : style_(style) {}

  // Replaces the previous values. Throws Cancelled, for a value may be a gigabyte.
  void assign(const Column& column, WorkPoll& poll);
  std::string_view operator[](size_t row) const {
    size_t place = codes_.empty() ? row : static_cast<size_t>(codes_[row]);
    return std::string_view(bytes_).substr(place == 0 ? 0 : ends_[place - 1], length(place));
  }
  // Over all rows.
  size_t total_bytes() const;

 private:
  size_t length(size_t place) const { return ends_[place] - (place == 0 ? 0 : ends_[place - 1]); }
  void format(const Column& plain, WorkPoll& poll);
  void format_text(const Column& plain, WorkPoll& poll);
  // Calls `append(row)` for every value that is not NULL.
  template <typename Append>
  void append_each(const Column& plain, Append append);
  void end_value() { ends_.push_back(bytes_.size()); }

  ValueStyle style_;
  std::string bytes_;
  std::vector<size_t> ends_;                  // end of each value, or of each dictionary entry and of NULL
  std::vector<int32_t> codes_;                // each row's entry; empty: one value per row
  std::shared_ptr<const Column> dictionary_;  // whose entries are formatted
};

}  // namespace pistachio
