#include "frontend/cli/result_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/polled_text.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/result_output.h"
#include "results/chunk_text.h"
#include "results/result_formats.h"

namespace pistachio {

namespace {

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
  TableText(ResultSink& output, WorkPoll& poll) : output_(output), poll_(poll) {}

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
  ResultSink& output_;
  WorkPoll& poll_;
  std::string text_;
};

// Box and Markdown buffer all rows to compute the widths. Box shows the first and last rows of a long result.
class TablePrinter final : public TextResult {
 public:
  TablePrinter(ResultOutput& output, bool box, int width)
      : TextResult(output),
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
    TableText text(sink_, poll_);
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
    case ResultFormat::Csv: return make_csv_result(output, {.reports_as_lines = reports_as_lines});
    case ResultFormat::Json: return make_json_result(output, false);
    case ResultFormat::JsonLines: return make_json_result(output, true);
    case ResultFormat::Box: return std::make_unique<TablePrinter>(output, true, width);
    case ResultFormat::Markdown: return std::make_unique<TablePrinter>(output, false, 0);
    case ResultFormat::Parquet: return make_parquet_result(output, {});
    case ResultFormat::Arrow: return make_arrow_result(output);
  }
  return nullptr;
}

}  // namespace pistachio
