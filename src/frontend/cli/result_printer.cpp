#include "frontend/cli/result_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "expr/polled_text.h"
#include "frontend/cli/binary_printer.h"
#include "frontend/cli/column_text.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/output_names.h"
#include "frontend/cli/result_output.h"

namespace pistachio {

namespace {

// The columns of a chunk as text. Buffers are reused for the next chunk.
class ChunkText {
 public:
  explicit ChunkText(const ValueStyle& style) : style_(style) {}

  void assign(const Chunk& chunk, WorkPoll& poll) {
    columns_.resize(chunk.column_count(), ColumnText(style_));
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].assign(chunk.column(i), poll);
  }
  // Releases dictionaries, which belong to the query.
  void clear() { columns_.clear(); }
  const std::vector<ColumnText>& columns() const { return columns_; }
  size_t total_bytes() const {
    size_t total = 0;
    for (const ColumnText& column : columns_) total += column.total_bytes();
    return total;
  }

 private:
  ValueStyle style_;
  std::vector<ColumnText> columns_;
};

// Printers that format values as text. One value may be a gigabyte, so loops over its bytes poll the statement's token.
class TextPrinter : public ResultReceiver {
 public:
  explicit TextPrinter(ResultOutput& output) : output_(output) {}
  void start(const CancelToken& token) override {
    token_ = token;
    output_.set_token(token);
  }

 protected:
  ResultOutput& output_;
  WorkPoll poll_{&token_};

 private:
  CancelToken token_;
};

void append_plain(std::string& target, std::string_view text, WorkPoll& poll) {
  if (static_cast<int64_t>(text.size()) <= kBytesPerPoll) {
    poll(static_cast<int64_t>(text.size()));
    target += text;
    return;
  }
  target.reserve(target.size() + text.size());
  for_each_block(text, poll, [&](std::string_view block) { target += block; });
}

// NULL is empty, empty text is "".
void append_csv_text(std::string& target, std::string_view text, WorkPoll& poll) {
  bool needs_quotes = text.empty();
  for_each_block(text, poll, [&](std::string_view block) {
    // Not find_first_of, which calls memchr for every character.
    auto is_special = [](char letter) { return letter == ',' || letter == '"' || letter == '\r' || letter == '\n'; };
    needs_quotes = needs_quotes || std::any_of(block.begin(), block.end(), is_special);
  });
  if (!needs_quotes) return append_plain(target, text, poll);
  target += '"';
  for_each_block(text, poll, [&](std::string_view block) {
    for (char letter : block) {
      if (letter == '"') target += '"';
      target += letter;
    }
  });
  target += '"';
}

class CsvPrinter final : public TextPrinter {
 public:
  CsvPrinter(ResultOutput& output, bool reports_as_lines) : TextPrinter(output), reports_as_lines_(reports_as_lines) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    is_report_ = reports_as_lines_ && columns.size() == 1 && columns[0].is_report;
    values_ = ChunkText(ValueStyle{"", "", is_report_ ? append_plain : append_csv_text});
    if (is_report_) return;
    text_.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text_ += ',';
      append_csv_text(text_, columns[i].name, poll_);
    }
    text_ += '\n';
    output_.write(text_);
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk, poll_);
    size_t rows = static_cast<size_t>(chunk.rows());
    text_.clear();
    text_.reserve(values_.total_bytes() + rows * std::max<size_t>(1, chunk.column_count()));
    for (size_t row = 0; row < rows; ++row) {
      for (const ColumnText& column : values_.columns()) {
        append_plain(text_, column[row], poll_);
        text_ += ',';
      }
      if (chunk.column_count() > 0) text_.pop_back();
      text_ += '\n';
    }
    output_.write(text_);
  }
  void end() override { values_.clear(); }
  void break_off() override { values_.clear(); }

 private:
  const bool reports_as_lines_;
  bool is_report_ = false;
  ChunkText values_{ValueStyle{"", "", append_csv_text}};
  std::string text_;
};

// Bytes of invalid UTF-8 become U+FFFD.
void append_json_text(std::string& target, std::string_view text, WorkPoll& poll) {
  bool is_plain = true;
  for_each_block(text, poll, [&](std::string_view block) {
    // As `char` is unsigned on some machines: bytes of letters outside ASCII may be invalid UTF-8.
    auto stays = [](char letter) { return static_cast<signed char>(letter) >= ' ' && letter != '"' && letter != '\\'; };
    is_plain = is_plain && std::all_of(block.begin(), block.end(), stays);
  });
  target += '"';
  if (is_plain) {
    append_plain(target, text, poll);
  } else {
    for_each_character_block(text, poll, [&](std::string_view block) {
      std::string escaped = nlohmann::json(std::string(block)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      target.append(escaped, 1, escaped.size() - 2);  // without its quotes
    });
  }
  target += '"';
}

// Numbers that JSON represents exactly are numbers; all other values are text.
class JsonPrinter final : public TextPrinter {
 public:
  JsonPrinter(ResultOutput& output, bool lines) : TextPrinter(output), lines_(lines) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    keys_.clear();
    for (const std::string& name : distinct_names(columns)) {
      keys_.emplace_back(keys_.empty() ? "{" : ",");
      append_json_text(keys_.back(), name, poll_);
      keys_.back() += ':';
    }
    first_ = true;
    if (!lines_) output_.write("[");
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk, poll_);
    text_.clear();
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      if (!lines_) text_ += first_ ? "\n" : ",\n";
      first_ = false;
      if (keys_.empty()) text_ += '{';
      for (size_t i = 0; i < keys_.size(); ++i) append_plain(text_ += keys_[i], values_.columns()[i][row], poll_);
      text_ += lines_ ? "}\n" : "}";
    }
    output_.write(text_);
  }
  void end() override {
    values_.clear();
    if (!lines_) output_.write(first_ ? "]\n" : "\n]\n");
  }
  void break_off() override {
    values_.clear();
    if (!lines_) output_.write("\n");
  }

 private:
  bool lines_;
  bool first_ = true;
  std::vector<std::string> keys_;  // including the separators around them
  ChunkText values_{ValueStyle{"null", "\"", append_json_text}};
  std::string text_;
};

// Single-line, without control characters.
void append_box_text(std::string& target, std::string_view text, WorkPoll& poll) {
  for_each_block(text, poll, [&](std::string_view block) {
    for (char letter : block) {
      if (letter == '\n') {
        target += "\\n";
      } else if (letter == '\t') {
        target += "\\t";
      } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
        target += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
      } else {
        target += letter;
      }
    }
  });
}

void append_markdown_text(std::string& target, std::string_view text, WorkPoll& poll) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t bar = std::min(text.find('|', begin), text.size());
    append_box_text(target, text.substr(begin, bar - begin), poll);
    if (bar < text.size()) target += "\\|";
    begin = bar + 1;
  }
}

// Text of a table on its way to the output: written when there is a megabyte of it, since the rules around one long value are longer still.
class TableText {
 public:
  TableText(ResultOutput& output, WorkPoll& poll) : output_(output), poll_(poll) {}

  void add(std::string_view text) {
    for_each_block(text, poll_, [&](std::string_view block) {
      text_ += block;
      if (static_cast<int64_t>(text_.size()) >= kBytesPerPoll) write();
    });
  }
  void repeat(std::string_view unit, size_t count) {
    constexpr size_t most_units = 4096;
    std::string units;
    for (size_t i = 0; i < std::min(count, most_units); ++i) units += unit;
    for (; count > most_units; count -= most_units) add(units);
    add(std::string_view(units).substr(0, count * unit.size()));
  }
  void write() {
    output_.write(text_);
    text_.clear();
  }

 private:
  ResultOutput& output_;
  WorkPoll& poll_;
  std::string text_;
};

// Box and Markdown buffer all rows to compute the widths. Box shows the first and last rows of a long result.
class TablePrinter final : public TextPrinter {
 public:
  TablePrinter(ResultOutput& output, bool box, int width)
      : TextPrinter(output),
        box_(box),
        width_(static_cast<size_t>(std::max(0, width))),
        values_(ValueStyle{"NULL", "", box ? append_box_text : append_markdown_text}) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    names_.assign(columns.size(), "");
    for (size_t i = 0; i < columns.size(); ++i) (box_ ? append_box_text : append_markdown_text)(names_[i], columns[i].name, poll_);
    head_.clear();
    tail_.clear();
    rows_ = 0;
  }
  void add(const Chunk& chunk) override {
    int64_t rows = chunk.rows();
    int64_t head = box_ ? std::min(rows, std::max<int64_t>(0, kHeadRows - rows_)) : rows;
    // After the head of a long result only the last rows can be shown.
    int64_t tail = std::min(rows - head, kTailRows);
    keep(chunk.slice(0, head), head_);
    keep(chunk.slice(rows - tail, tail), tail_);
    if (static_cast<int64_t>(tail_.size()) > kTailRows) tail_.erase(tail_.begin(), tail_.end() - kTailRows);
    rows_ += rows;
  }
  void break_off() override { values_.clear(); }
  void end() override {
    values_.clear();
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t widest = std::max<size_t>(3, display_width(names_[i], poll_));
      for (const auto* rows : {&head_, &tail_}) {
        for (const std::vector<std::string>& row : *rows) widest = std::max(widest, display_width(row[i], poll_));
      }
      widths.push_back(widest);
    }
    if (box_) fit(widths);
    TableText text(output_, poll_);
    if (box_) add_rule(text, widths, "┌", "┬", "┐");
    add_line(text, names_, widths);
    if (box_) {
      add_rule(text, widths, "├", "┼", "┤");
    } else {
      add_markdown_rule(text, widths);
    }
    for (const std::vector<std::string>& row : head_) add_line(text, row, widths);
    int64_t hidden = rows_ - static_cast<int64_t>(head_.size() + tail_.size());
    if (hidden > 0) add_line(text, std::vector<std::string>(columns_.size(), "…"), widths);
    for (const std::vector<std::string>& row : tail_) add_line(text, row, widths);
    if (box_) {
      add_rule(text, widths, "└", "┴", "┘");
      text.add(fmt::format("{} row{}{}\n", rows_, rows_ == 1 ? "" : "s", hidden > 0 ? fmt::format(", {} not shown", hidden) : ""));
    }
    text.write();
  }

 private:
  static constexpr int64_t kHeadRows = 40;
  static constexpr int64_t kTailRows = 20;

  void keep(const Chunk& chunk, std::vector<std::vector<std::string>>& kept) {
    values_.assign(chunk, poll_);
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      std::vector<std::string>& cells = kept.emplace_back();
      for (const ColumnText& column : values_.columns()) append_plain(cells.emplace_back(), column[row], poll_);
    }
  }

  // Shrinks the widest columns until the table fits the terminal.
  void fit(std::vector<size_t>& widths) const {
    if (width_ == 0 || widths.empty()) return;
    auto total = [&] {
      size_t sum = 1;
      for (size_t width : widths) sum += width + 3;
      return sum;
    };
    constexpr size_t least_width = 8;
    if (total() > width_) {
      for (size_t& width : widths) width = std::min(width, std::max(width_, least_width));
    }
    while (total() > width_) {
      auto widest = std::max_element(widths.begin(), widths.end());
      if (*widest <= least_width) return;
      --*widest;
    }
  }

  bool is_number(size_t column) const {
    switch (columns_[column].type.kind()) {
      case TypeKind::TinyInt:
      case TypeKind::SmallInt:
      case TypeKind::Integer:
      case TypeKind::BigInt:
      case TypeKind::Decimal:
      case TypeKind::Real:
      case TypeKind::Double: return true;
      default: return false;
    }
  }

  void add_line(TableText& text, const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
    std::string_view bar = box_ ? "│" : "|";
    text.add(bar);
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string cut;
      std::string_view shown = cells[i];
      size_t width = display_width(shown, poll_);
      if (box_ && width > widths[i]) {
        cut = cut_to_width(shown, widths[i]);
        shown = cut;
        width = display_width(cut);
      }
      size_t padding = widths[i] - std::min(widths[i], width);
      text.add(" ");
      if (is_number(i)) text.repeat(" ", padding);
      text.add(shown);
      if (!is_number(i)) text.repeat(" ", padding);
      text.add(" ");
      text.add(bar);
    }
    text.add("\n");
  }

  static void add_rule(TableText& text, const std::vector<size_t>& widths, std::string_view left, std::string_view middle,
                       std::string_view right) {
    text.add(left);
    for (size_t i = 0; i < widths.size(); ++i) {
      text.repeat("─", widths[i] + 2);
      text.add(i + 1 < widths.size() ? middle : right);
    }
    if (widths.empty()) text.add(right);
    text.add("\n");
  }

  void add_markdown_rule(TableText& text, const std::vector<size_t>& widths) const {
    text.add("|");
    for (size_t i = 0; i < widths.size(); ++i) {
      text.add(" ");
      text.repeat("-", is_number(i) ? widths[i] - 1 : widths[i]);
      text.add(is_number(i) ? ": |" : " |");
    }
    text.add("\n");
  }

  bool box_;
  size_t width_;
  ChunkText values_;
  std::vector<ResultColumn> columns_;
  std::vector<std::string> names_;  // as shown
  std::vector<std::vector<std::string>> head_;
  std::vector<std::vector<std::string>> tail_;
  int64_t rows_ = 0;
};

}  // namespace

ResultFormat parse_result_format(std::string_view name) {
  if (name == "box") return ResultFormat::Box;
  if (name == "csv") return ResultFormat::Csv;
  if (name == "json") return ResultFormat::Json;
  if (name == "jsonl") return ResultFormat::JsonLines;
  if (name == "markdown") return ResultFormat::Markdown;
  if (name == "parquet") return ResultFormat::Parquet;
  if (name == "arrow") return ResultFormat::Arrow;
  throw UsageError(fmt::format("--format takes box, csv, json, jsonl, markdown, parquet or arrow, not '{}'", name));
}

bool is_binary(ResultFormat format) {
  return format == ResultFormat::Parquet || format == ResultFormat::Arrow;
}

std::unique_ptr<ResultReceiver> make_result_printer(ResultFormat format, ResultOutput& output, int width, bool reports_as_lines) {
  switch (format) {
    case ResultFormat::Csv: return std::make_unique<CsvPrinter>(output, reports_as_lines);
    case ResultFormat::Json: return std::make_unique<JsonPrinter>(output, false);
    case ResultFormat::JsonLines: return std::make_unique<JsonPrinter>(output, true);
    case ResultFormat::Box: return std::make_unique<TablePrinter>(output, true, width);
    case ResultFormat::Markdown: return std::make_unique<TablePrinter>(output, false, 0);
    case ResultFormat::Parquet: return make_parquet_printer(output);
    case ResultFormat::Arrow: return make_arrow_printer(output);
  }
  return nullptr;
}

}  // namespace pistachio
