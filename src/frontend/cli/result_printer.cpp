#include "frontend/cli/result_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

  void assign(const Chunk& chunk) {
    columns_.resize(chunk.column_count(), ColumnText(style_));
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].assign(chunk.column(i));
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

// NULL is empty, empty text is "".
void append_csv_text(std::string& target, std::string_view text) {
  // Not find_first_of, which calls memchr for every character.
  bool needs_quotes = std::any_of(text.begin(), text.end(), [](char letter) { return letter == ',' || letter == '"' || letter == '\r' || letter == '\n'; });
  if (!text.empty() && !needs_quotes) {
    target += text;
    return;
  }
  target += '"';
  for (char letter : text) {
    if (letter == '"') target += '"';
    target += letter;
  }
  target += '"';
}

class CsvPrinter final : public ResultReceiver {
 public:
  CsvPrinter(ResultOutput& output, bool reports_as_lines) : output_(output), reports_as_lines_(reports_as_lines) {}
  void start(const CancelToken& token) override { output_.set_token(token); }
  void begin(const std::vector<ResultColumn>& columns) override {
    is_report_ = reports_as_lines_ && columns.size() == 1 && columns[0].is_report;
    values_ = ChunkText(ValueStyle{"", "", is_report_ ? append_line : append_csv_text});
    if (is_report_) return;
    text_.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text_ += ',';
      append_csv_text(text_, columns[i].name);
    }
    text_ += '\n';
    output_.write(text_);
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk);
    size_t rows = static_cast<size_t>(chunk.rows());
    text_.clear();
    text_.reserve(values_.total_bytes() + rows * std::max<size_t>(1, chunk.column_count()));
    for (size_t row = 0; row < rows; ++row) {
      for (const ColumnText& column : values_.columns()) {
        text_ += column[row];
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
  static void append_line(std::string& target, std::string_view text) { target += text; }

  ResultOutput& output_;
  const bool reports_as_lines_;
  bool is_report_ = false;
  ChunkText values_{ValueStyle{"", "", append_csv_text}};
  std::string text_;
};

// Bytes of invalid UTF-8 become U+FFFD.
void append_json_text(std::string& target, std::string_view text) {
  bool is_plain = std::all_of(text.begin(), text.end(), [](char letter) { return letter >= ' ' && letter != '"' && letter != '\\'; });
  if (is_plain) {
    ((target += '"') += text) += '"';
  } else {
    target += nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

// Numbers that JSON represents exactly are numbers; all other values are text.
class JsonPrinter final : public ResultReceiver {
 public:
  JsonPrinter(ResultOutput& output, bool lines) : output_(output), lines_(lines) {}
  void start(const CancelToken& token) override { output_.set_token(token); }
  void begin(const std::vector<ResultColumn>& columns) override {
    keys_.clear();
    for (const std::string& name : distinct_names(columns)) {
      keys_.emplace_back(keys_.empty() ? "{" : ",");
      append_json_text(keys_.back(), name);
      keys_.back() += ':';
    }
    first_ = true;
    if (!lines_) output_.write("[");
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk);
    text_.clear();
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      if (!lines_) text_ += first_ ? "\n" : ",\n";
      first_ = false;
      if (keys_.empty()) text_ += '{';
      for (size_t i = 0; i < keys_.size(); ++i) (text_ += keys_[i]) += values_.columns()[i][row];
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
  ResultOutput& output_;
  bool lines_;
  bool first_ = true;
  std::vector<std::string> keys_;  // including the separators around them
  ChunkText values_{ValueStyle{"null", "\"", append_json_text}};
  std::string text_;
};

// Single-line, without control characters.
void append_box_text(std::string& target, std::string_view text) {
  for (char letter : text) {
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
}

void append_markdown_text(std::string& target, std::string_view text) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t bar = std::min(text.find('|', begin), text.size());
    append_box_text(target, text.substr(begin, bar - begin));
    if (bar < text.size()) target += "\\|";
    begin = bar + 1;
  }
}

// Box and Markdown buffer all rows to compute the widths. Box shows the first and last rows of a long result.
class TablePrinter final : public ResultReceiver {
 public:
  TablePrinter(ResultOutput& output, bool box, int width)
      : output_(output),
        box_(box),
        width_(static_cast<size_t>(std::max(0, width))),
        values_(ValueStyle{"NULL", "", box ? append_box_text : append_markdown_text}) {}
  void start(const CancelToken& token) override { output_.set_token(token); }
  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    names_.assign(columns.size(), "");
    for (size_t i = 0; i < columns.size(); ++i) (box_ ? append_box_text : append_markdown_text)(names_[i], columns[i].name);
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
      size_t widest = std::max<size_t>(3, display_width(names_[i]));
      for (const auto* rows : {&head_, &tail_}) {
        for (const std::vector<std::string>& row : *rows) widest = std::max(widest, display_width(row[i]));
      }
      widths.push_back(widest);
    }
    if (box_) fit(widths);
    std::string text;
    if (box_) text += rule(widths, "┌", "┬", "┐");
    text += line(names_, widths);
    text += box_ ? rule(widths, "├", "┼", "┤") : markdown_rule(widths);
    for (const std::vector<std::string>& row : head_) text += line(row, widths);
    int64_t hidden = rows_ - static_cast<int64_t>(head_.size() + tail_.size());
    if (hidden > 0) text += line(std::vector<std::string>(columns_.size(), "…"), widths);
    for (const std::vector<std::string>& row : tail_) text += line(row, widths);
    if (box_) {
      text += rule(widths, "└", "┴", "┘");
      text += fmt::format("{} row{}{}\n", rows_, rows_ == 1 ? "" : "s", hidden > 0 ? fmt::format(", {} not shown", hidden) : "");
    }
    output_.write(text);
  }

 private:
  static constexpr int64_t kHeadRows = 40;
  static constexpr int64_t kTailRows = 20;

  void keep(const Chunk& chunk, std::vector<std::vector<std::string>>& kept) {
    values_.assign(chunk);
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      std::vector<std::string>& cells = kept.emplace_back();
      for (const ColumnText& column : values_.columns()) cells.emplace_back(column[row]);
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
    while (total() > width_) {
      auto widest = std::max_element(widths.begin(), widths.end());
      if (*widest <= 8) return;
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

  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
    std::string_view bar = box_ ? "│" : "|";
    std::string text(bar);
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string shown = box_ ? cut_to_width(cells[i], widths[i]) : cells[i];
      std::string fill(widths[i] - std::min(widths[i], display_width(shown)), ' ');
      text += is_number(i) ? fmt::format(" {}{} {}", fill, shown, bar) : fmt::format(" {}{} {}", shown, fill, bar);
    }
    return text + "\n";
  }

  static std::string rule(const std::vector<size_t>& widths, std::string_view left, std::string_view middle, std::string_view right) {
    std::string text(left);
    for (size_t i = 0; i < widths.size(); ++i) {
      for (size_t j = 0; j < widths[i] + 2; ++j) text += "─";
      text += i + 1 < widths.size() ? middle : right;
    }
    if (widths.empty()) text += right;
    return text + "\n";
  }

  std::string markdown_rule(const std::vector<size_t>& widths) const {
    std::string text = "|";
    for (size_t i = 0; i < widths.size(); ++i)
      text += is_number(i) ? fmt::format(" {:-<{}}: |", "", widths[i] - 1) : fmt::format(" {:-<{}} |", "", widths[i]);
    return text + "\n";
  }

  ResultOutput& output_;
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
