#include "session/copy_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.h"

namespace pistachio {

namespace {

using Option = ast::Copy::Option;
using Format = CopyOptions::Format;

std::string lower_case_of(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

std::string upper_case_of(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

[[noreturn]] void refuse_value(const Option& option, std::string_view wanted) {
  throw UserError(fmt::format("{} of COPY takes {}{}", upper_case_of(option.name), wanted,
                              option.values.size() == 1 ? fmt::format(", not '{}'", option.values[0]) : ""));
}

const std::string& only_value(const Option& option, std::string_view wanted) {
  if (option.values.size() != 1) refuse_value(option, wanted);
  return option.values[0];
}

bool truth_of(const Option& option) {
  if (option.values.empty()) return true;
  const std::string value = lower_case_of(only_value(option, "true or false"));
  if (value == "true" || value == "on" || value == "1") return true;
  if (value == "false" || value == "off" || value == "0") return false;
  refuse_value(option, "true or false");
}

int64_t count_of(const Option& option, int64_t least, int64_t most, std::string_view wanted) {
  const std::string& value = only_value(option, wanted);
  int64_t count = 0;
  auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (status != std::errc() || end != value.data() + value.size() || count < least || count > most) refuse_value(option, wanted);
  return count;
}

std::optional<Format> format_of_name(const std::string& name) {
  if (name == "parquet") return Format::Parquet;
  if (name == "csv") return Format::Csv;
  if (name == "json") return Format::Json;
  if (name == "arrow") return Format::Arrow;
  return std::nullopt;
}

std::optional<Format> format_of_path(const std::string& path) {
  const std::string lower = lower_case_of(path);
  if (lower.ends_with(".parquet")) return Format::Parquet;
  if (lower.ends_with(".csv") || lower.ends_with(".tsv")) return Format::Csv;
  if (lower.ends_with(".json") || lower.ends_with(".jsonl") || lower.ends_with(".ndjson")) return Format::Json;
  if (lower.ends_with(".arrow") || lower.ends_with(".arrows")) return Format::Arrow;
  return std::nullopt;
}

Format format_of(const ast::Copy& copy) {
  for (const Option& option : copy.options) {
    if (option.name != "format") continue;
    constexpr std::string_view wanted = "parquet, csv, json or arrow";
    const std::optional<Format> named = format_of_name(lower_case_of(only_value(option, wanted)));
    if (!named) refuse_value(option, wanted);
    return *named;
  }
  if (const std::optional<Format> found = format_of_path(copy.path)) return *found;
  if (!copy.partition_by.empty()) return Format::Parquet;
  throw UserError(fmt::format("the format of {} is unknown: add (FORMAT parquet), csv, json or arrow", copy.path));
}

ParquetCompression compression_of(const Option& option) {
  constexpr std::string_view wanted = "none, snappy, gzip, zstd, lz4 or brotli";
  const std::string name = lower_case_of(only_value(option, wanted));
  if (name == "none" || name == "uncompressed") return ParquetCompression::None;
  if (name == "snappy") return ParquetCompression::Snappy;
  if (name == "gzip") return ParquetCompression::Gzip;
  if (name == "zstd") return ParquetCompression::Zstd;
  if (name == "lz4" || name == "lz4_raw") return ParquetCompression::Lz4;
  if (name == "brotli") return ParquetCompression::Brotli;
  refuse_value(option, wanted);
}

// Numbers, dates and times are written without quotes: their characters can neither separate nor quote values.
bool may_frame_values(const std::string& text) {
  constexpr std::string_view taken = " +-.:\\\r\n";
  return text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80 && std::isalnum(static_cast<unsigned char>(text[0])) == 0 &&
         taken.find(text[0]) == std::string_view::npos;
}

char delimiter_of(const Option& option) {
  constexpr std::string_view wanted = "one ASCII character that does not occur in numbers, dates or line ends, or '\\t'";
  const std::string& text = only_value(option, wanted);
  if (text == "\\t") return '\t';
  if (!may_frame_values(text)) refuse_value(option, wanted);
  return text[0];
}

char quote_of(const Option& option) {
  constexpr std::string_view wanted = "one ASCII character that does not occur in numbers, dates or line ends";
  const std::string& text = only_value(option, wanted);
  if (!may_frame_values(text)) refuse_value(option, wanted);
  return text[0];
}

// Values other than text are written without quotes: the text for NULL must not read as one of them.
void check_null_text(const CsvStyle& style) {
  const std::string& text = style.null_text;
  if (text.empty()) return;
  constexpr std::string_view words[] = {"true", "false", "nan", "infinity"};
  const std::string lower = lower_case_of(text);
  const bool is_value = std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '-' || text[0] == '+' || text[0] == '.' ||
                        text.starts_with("\\x") || std::find(std::begin(words), std::end(words), lower) != std::end(words);
  const char marks[] = {style.delimiter, style.quote, '\r', '\n'};
  if (is_value || text.find_first_of(std::string_view(marks, sizeof marks)) != std::string::npos)
    throw UserError(fmt::format("NULL '{}' of COPY could be a value, or has a delimiter, quote or line end in it", text));
}

// False if the format has no such option.
bool set_parquet_option(const Option& option, ParquetStyle& style) {
  if (option.name == "compression" || option.name == "codec") {
    style.compression = compression_of(option);
  } else if (option.name == "compression_level") {
    style.level = static_cast<int>(count_of(option, 0, 22, "a whole number from 0 to 22"));
  } else if (option.name == "row_group_size") {
    style.row_group_rows = count_of(option, 1, INT64_MAX, "a positive whole number");
  } else {
    return false;
  }
  return true;
}

bool set_csv_option(const Option& option, CsvStyle& style) {
  if (option.name == "header") {
    style.has_header = truth_of(option);
  } else if (option.name == "delimiter" || option.name == "delim" || option.name == "sep") {
    style.delimiter = delimiter_of(option);
  } else if (option.name == "quote") {
    style.quote = quote_of(option);
  } else if (option.name == "null" || option.name == "nullstr") {
    style.null_text = only_value(option, "a text");
  } else {
    return false;
  }
  return true;
}

void check_level(const ParquetStyle& style) {
  if (!style.level) return;
  struct Range {
    ParquetCompression compression;
    int least;
    int most;
  };
  constexpr Range ranges[] = {{ParquetCompression::Gzip, 1, 9}, {ParquetCompression::Zstd, 1, 22}, {ParquetCompression::Brotli, 0, 11}};
  for (const Range& range : ranges) {
    if (range.compression == style.compression && *style.level >= range.least && *style.level <= range.most) return;
  }
  throw UserError("COMPRESSION_LEVEL of COPY needs COMPRESSION gzip (1 to 9), zstd (1 to 22) or brotli (0 to 11)");
}

void refuse_repeated(const std::vector<Option>& options) {
  for (size_t i = 0; i < options.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (options[i].name == options[j].name) throw UserError(fmt::format("COPY has the option {} twice", upper_case_of(options[i].name)));
    }
  }
}

std::string_view known_options(Format format) {
  switch (format) {
    case Format::Parquet: return "FORMAT, PARTITION_BY, OVERWRITE, COMPRESSION, COMPRESSION_LEVEL, ROW_GROUP_SIZE";
    case Format::Csv: return "FORMAT, PARTITION_BY, OVERWRITE, HEADER, DELIMITER, QUOTE, NULL";
    case Format::Json: return "FORMAT, PARTITION_BY, OVERWRITE, ARRAY";
    case Format::Arrow: return "FORMAT, PARTITION_BY, OVERWRITE";
  }
  return "";
}

}  // namespace

CopyOptions::CopyOptions(const ast::Copy& copy) : format(format_of(copy)) {
  refuse_repeated(copy.options);
  if (lower_case_of(copy.path).ends_with(".tsv")) csv.delimiter = '\t';
  for (const Option& option : copy.options) {
    if (option.name == "format") continue;
    bool is_known = false;
    if (option.name == "overwrite" && !copy.partition_by.empty()) {
      may_replace = truth_of(option);
      is_known = true;
    } else if (format == Format::Parquet) {
      is_known = set_parquet_option(option, parquet);
    } else if (format == Format::Csv) {
      is_known = set_csv_option(option, csv);
    } else if (format == Format::Json && option.name == "array") {
      is_json_array = truth_of(option);
      is_known = true;
    }
    if (!is_known) {
      throw UserError(
          fmt::format("COPY has no option {} for {} files; it has {}", upper_case_of(option.name), ending(), known_options(format)));
    }
  }
  if (csv.delimiter == csv.quote) throw UserError("DELIMITER and QUOTE of COPY are the same character");
  check_null_text(csv);
  check_level(parquet);
}

std::string CopyOptions::ending() const {
  switch (format) {
    case Format::Parquet: return "parquet";
    case Format::Csv: return "csv";
    case Format::Json: return "json";
    case Format::Arrow: return "arrow";
  }
  return "";
}

std::unique_ptr<ResultReceiver> CopyOptions::make_format(ResultSink& sink) const {
  switch (format) {
    case Format::Parquet: return make_parquet_result(sink, parquet);
    case Format::Csv: return make_csv_result(sink, csv);
    case Format::Json: return make_json_result(sink, !is_json_array);
    case Format::Arrow: return make_arrow_result(sink);
  }
  return nullptr;
}

}  // namespace pistachio
