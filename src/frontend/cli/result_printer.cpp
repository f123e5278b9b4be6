#include "frontend/cli/result_printer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "columns/scalar_access.h"
#include "data/concatenate_columns.h"
#include "frontend/cli/binary_printer.h"
#include "frontend/cli/command_arguments.h"

namespace pistachio {

namespace {

void write(std::FILE* target, std::string_view text) {
  write_result_bytes(target, text);
}

// Characters on the screen: bytes that do not continue a UTF-8 character.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
}

std::string cut_to_width(const std::string& text, size_t width) {
  if (display_width(text) <= width) return text;
  size_t shown = 0;
  size_t end = 0;
  while (end < text.size() && shown + 1 < width) {
    ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    ++shown;
  }
  return text.substr(0, end) + "…";
}

// Gives the rows of a chunk as values, a column at a time.
std::vector<std::vector<ScalarValue>> values_of(const Chunk& chunk) {
  std::vector<std::vector<ScalarValue>> columns;
  for (const Column& column : chunk.columns()) {
    Column plain = decode_dictionary(column);
    std::vector<ScalarValue> values;
    values.reserve(static_cast<size_t>(chunk.rows()));
    for (int64_t row = 0; row < chunk.rows(); ++row) values.push_back(value_at(plain, row));
    columns.push_back(std::move(values));
  }
  return columns;
}

class CsvPrinter final : public ResultReceiver {
 public:
  explicit CsvPrinter(std::FILE* target) : target_(target) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    std::string line;
    for (const ResultColumn& column : columns) line += (line.empty() && &column == columns.data() ? "" : ",") + quoted(column.name);
    write(target_, line + "\n");
  }
  void add(const Chunk& chunk) override {
    std::vector<std::vector<ScalarValue>> columns = values_of(chunk);
    std::string text;
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) text += ',';
        if (!columns[i][row].is_null) text += quoted(columns[i][row].to_string());
      }
      text += '\n';
    }
    write(target_, text);
  }
  void end() override {}

 private:
  // NULL is empty, an empty text is "".
  static std::string quoted(const std::string& text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string made = "\"";
    for (char letter : text) {
      if (letter == '"') made += '"';
      made += letter;
    }
    return made + '"';
  }

  std::FILE* target_;
};

class JsonPrinter final : public ResultReceiver {
 public:
  JsonPrinter(std::FILE* target, bool lines) : target_(target), lines_(lines) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    first_ = true;
    if (!lines_) write(target_, "[");
  }
  void add(const Chunk& chunk) override {
    std::vector<std::vector<ScalarValue>> columns = values_of(chunk);
    std::string text;
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      if (!lines_) text += first_ ? "\n" : ",\n";
      first_ = false;
      text += "{";
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) text += ",";
        text +=
            nlohmann::json(columns_[i].name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ":" + shown(columns[i][row]);
      }
      text += lines_ ? "}\n" : "}";
    }
    write(target_, text);
  }
  void end() override {
    if (!lines_) write(target_, first_ ? "]\n" : "\n]\n");
  }
  void break_off() override {
    if (!lines_) write(target_, "\n");
  }

 private:
  // Numbers that JSON can hold exactly are numbers; the others, and everything else, are text.
  static std::string shown(const ScalarValue& value) {
    if (value.is_null) return "null";
    switch (value.type.kind()) {
      case TypeKind::Boolean:
      case TypeKind::TinyInt:
      case TypeKind::SmallInt:
      case TypeKind::Integer:
      case TypeKind::BigInt:
      case TypeKind::Decimal: return value.to_string();
      case TypeKind::Real:
      case TypeKind::Double:
        if (std::isfinite(value.floating)) return value.to_string();
        break;
      default: break;
    }
    return nlohmann::json(value.to_string()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  std::FILE* target_;
  bool lines_;
  bool first_ = true;
  std::vector<ResultColumn> columns_;
};

// Box and Markdown need all rows before the first line: the widths. Box shows the first and last rows of a long result.
class TablePrinter final : public ResultReceiver {
 public:
  TablePrinter(std::FILE* target, bool box, int width) : target_(target), box_(box), width_(static_cast<size_t>(std::max(0, width))) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    head_.clear();
    tail_.clear();
    rows_ = 0;
  }
  void add(const Chunk& chunk) override {
    // Of chunks in the middle of a long result only the last rows can be seen.
    int64_t begin = 0;
    if (box_ && rows_ >= kHeadRows) begin = std::max<int64_t>(0, chunk.rows() - kTailRows);
    std::vector<std::vector<ScalarValue>> columns = values_of(chunk.slice(begin, chunk.rows() - begin));
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows() - begin); ++row) {
      std::vector<std::string> cells;
      for (const std::vector<ScalarValue>& column : columns) cells.push_back(cell(column[row]));
      if (!box_ || static_cast<int64_t>(head_.size()) < kHeadRows) {
        head_.push_back(std::move(cells));
      } else {
        tail_.push_back(std::move(cells));
        if (static_cast<int64_t>(tail_.size()) > kTailRows) tail_.erase(tail_.begin());
      }
    }
    rows_ += chunk.rows();
  }
  void end() override {
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t widest = std::max<size_t>(3, display_width(columns_[i].name));
      for (const auto* rows : {&head_, &tail_}) {
        for (const std::vector<std::string>& row : *rows) widest = std::max(widest, display_width(row[i]));
      }
      widths.push_back(widest);
    }
    if (box_) fit(widths);
    std::string text;
    std::vector<std::string> names;
    for (const ResultColumn& column : columns_) names.push_back(column.name);
    if (box_) text += rule(widths, "┌", "┬", "┐");
    text += line(names, widths);
    text += box_ ? rule(widths, "├", "┼", "┤") : markdown_rule(widths);
    for (const std::vector<std::string>& row : head_) text += line(row, widths);
    int64_t hidden = rows_ - static_cast<int64_t>(head_.size() + tail_.size());
    if (hidden > 0) text += line(std::vector<std::string>(columns_.size(), "…"), widths);
    for (const std::vector<std::string>& row : tail_) text += line(row, widths);
    if (box_) {
      text += rule(widths, "└", "┴", "┘");
      text += fmt::format("{} row{}{}\n", rows_, rows_ == 1 ? "" : "s", hidden > 0 ? fmt::format(", {} not shown", hidden) : "");
    }
    write(target_, text);
  }

 private:
  static constexpr int64_t kHeadRows = 40;
  static constexpr int64_t kTailRows = 20;

  std::string cell(const ScalarValue& value) const {
    if (value.is_null) return "NULL";
    std::string text = value.to_string();
    std::string safe;
    for (char letter : text) {
      if (letter == '\n') {
        safe += "\\n";
      } else if (letter == '\t') {
        safe += "\\t";
      } else if (letter == '|' && !box_) {
        safe += "\\|";
      } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
        safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
      } else {
        safe += letter;
      }
    }
    return safe;
  }

  // Takes from the widest columns until the table fits the terminal.
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

  std::FILE* target_;
  bool box_;
  size_t width_;
  std::vector<ResultColumn> columns_;
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

std::unique_ptr<ResultReceiver> make_result_printer(ResultFormat format, std::FILE* target, int width) {
  switch (format) {
    case ResultFormat::Csv: return std::make_unique<CsvPrinter>(target);
    case ResultFormat::Json: return std::make_unique<JsonPrinter>(target, false);
    case ResultFormat::JsonLines: return std::make_unique<JsonPrinter>(target, true);
    case ResultFormat::Box: return std::make_unique<TablePrinter>(target, true, width);
    case ResultFormat::Markdown: return std::make_unique<TablePrinter>(target, false, 0);
    case ResultFormat::Parquet: return make_parquet_printer(target);
    case ResultFormat::Arrow: return make_arrow_printer(target);
  }
  return nullptr;
}

}  // namespace pistachio
