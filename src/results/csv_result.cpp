#include <algorithm>

#include "expr/polled_text.h"
#include "results/chunk_text.h"
#include "results/result_formats.h"

namespace pistachio {

namespace {

void append_csv_text(std::string& target, std::string_view text, const CsvStyle& style, WorkPoll& poll) {
  // Text that reads as NULL is in quotes.
  bool needs_quotes = text == style.null_text;
  for_each_block(text, poll, [&](std::string_view block) {
    // Not find_first_of, which calls memchr for every character.
    auto is_special = [&](char letter) { return letter == style.delimiter || letter == style.quote || letter == '\r' || letter == '\n'; };
    needs_quotes = needs_quotes || std::any_of(block.begin(), block.end(), is_special);
  });
  if (!needs_quotes) return append_plain(target, text, poll);
  target += style.quote;
  for_each_block(text, poll, [&](std::string_view block) {
    for (char letter : block) {
      if (letter == style.quote) target += style.quote;
      target += letter;
    }
  });
  target += style.quote;
}

class CsvResult final : public TextResult {
 public:
  CsvResult(ResultSink& sink, const CsvStyle& style) : TextResult(sink), style_(style) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    const bool is_report = style_.reports_as_lines && columns.size() == 1 && columns[0].is_report;
    values_ = ChunkText(is_report ? ValueStyle{"", "", append_plain} : ValueStyle{style_.null_text, "", append_text()});
    if (is_report || !style_.has_header) return;
    text_.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text_ += style_.delimiter;
      append_csv_text(text_, columns[i].name, style_, poll_);
    }
    text_ += '\n';
    sink_.write(text_);
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk, poll_);
    size_t rows = static_cast<size_t>(chunk.rows());
    text_.clear();
    text_.reserve(values_.total_bytes() + rows * std::max<size_t>(1, chunk.column_count()));
    for (size_t row = 0; row < rows; ++row) {
      for (const ColumnText& column : values_.columns()) {
        append_plain(text_, column[row], poll_);
        text_ += style_.delimiter;
      }
      if (chunk.column_count() > 0) text_.pop_back();
      text_ += '\n';
    }
    sink_.write(text_);
  }
  void end() override { values_.clear(); }
  void break_off() override { values_.clear(); }

 private:
  std::function<void(std::string&, std::string_view, WorkPoll&)> append_text() {
    return [this](std::string& target, std::string_view text, WorkPoll& poll) { append_csv_text(target, text, style_, poll); };
  }

  const CsvStyle style_;
  ChunkText values_{ValueStyle{"", "", append_plain}};
  std::string text_;
};

}  // namespace

std::unique_ptr<ResultReceiver> make_csv_result(ResultSink& sink, const CsvStyle& style) {
  return std::make_unique<CsvResult>(sink, style);
}

}  // namespace pistachio
