#include "readers/read_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "expr/nearest_name.h"

namespace pistachio {

namespace {

std::string lower_letters(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

class OptionReader {
 public:
  OptionReader(std::string_view function, FileFormat format, const TypeOfName& type_of_name)
      : function_(function), type_of_name_(type_of_name) {
    result_.format = format;
  }

  void read(const ReadOption& option);

  ReadOptions finish() {
    if (!result_.detects && result_.columns.empty())
      throw UserError(fmt::format("{} with auto_detect = false needs columns = {{'name': 'TYPE', ...}}", function_));
    return std::move(result_);
  }

 private:
  using Read = void (OptionReader::*)(const ReadOption&);
  struct Known {
    std::string_view name;
    unsigned formats;
    Read read;
  };
  static constexpr unsigned bit(FileFormat format) { return 1U << static_cast<unsigned>(format); }
  static const Known kKnown[];

  [[noreturn]] void refuse(const ReadOption& option, std::string_view wanted) const {
    const bool is_single = option.values.size() == 1 && !option.is_list;
    throw UserError(
        fmt::format("{} of {} takes {}{}", option.name, function_, wanted, is_single ? fmt::format(", not '{}'", option.values[0]) : ""),
        option.position);
  }
  const std::string& single(const ReadOption& option, std::string_view wanted) const {
    if (option.values.size() != 1 || option.is_list || !option.keys.empty()) refuse(option, wanted);
    return option.values[0];
  }
  bool truth(const ReadOption& option) const {
    if (option.values.empty() && !option.is_list) return true;
    const std::string word = lower_letters(single(option, "true or false"));
    if (word == "true" || word == "1" || word == "on") return true;
    if (word == "false" || word == "0" || word == "off") return false;
    refuse(option, "true or false");
  }
  int64_t count(const ReadOption& option, int64_t least) const {
    const std::string wanted = fmt::format("a whole number of at least {}", least);
    const std::string& text = single(option, wanted);
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least) refuse(option, wanted);
    return value;
  }
  char mark(const ReadOption& option, bool may_be_empty) const {
    const std::string wanted = may_be_empty ? "one ASCII character, or '' for none" : "one ASCII character";
    const std::string& text = single(option, wanted);
    if (text.empty() && may_be_empty) return 0;
    if (text == "\\t") return '\t';
    if (text.size() != 1 || static_cast<unsigned char>(text[0]) >= 0x80 || text[0] == '\n' || text[0] == '\r' || text[0] == 0)
      refuse(option, wanted);
    return text[0];
  }
  LogicalType type_of(const ReadOption& option, const std::string& name) const {
    try {
      return type_of_name_(name);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{} of {}: {}", option.name, function_, error.message()), option.position);
    }
  }
  void refuse_repeated(const ReadOption& option, const std::vector<std::string>& names) const {
    for (size_t i = 0; i < names.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (lower_letters(names[i]) == lower_letters(names[j]))
          throw UserError(fmt::format("{} of {} names {} twice", option.name, function_, names[i]), option.position);
      }
    }
  }

  void read_delimiter(const ReadOption& option) { result_.delimiter = mark(option, false); }
  void read_quote(const ReadOption& option) { result_.quote = mark(option, true); }
  void read_escape(const ReadOption& option) { result_.escape = mark(option, true); }
  void read_comment(const ReadOption& option) { result_.comment = mark(option, true); }
  void read_header(const ReadOption& option) { result_.header = truth(option); }
  void read_null(const ReadOption& option) {
    if (option.values.empty() || !option.keys.empty()) refuse(option, "a text or a list of texts");
    result_.null_texts = option.values;
  }
  void read_skip(const ReadOption& option) { result_.skip = count(option, 0); }
  void read_sample(const ReadOption& option) {
    const int64_t rows = count(option, -1);
    if (rows == 0) refuse(option, "a number of rows, or -1 for all");
    result_.sample_rows = rows == -1 ? INT64_MAX : rows;
  }
  void read_detect(const ReadOption& option) { result_.detects = truth(option); }
  void read_all_text(const ReadOption& option) { result_.all_text = truth(option); }
  void read_ignore(const ReadOption& option) { result_.ignore_errors = truth(option); }
  void read_padding(const ReadOption& option) { result_.pads_nulls = truth(option); }
  void read_quoted_nulls(const ReadOption& option) { result_.quoted_may_be_null = truth(option); }
  void read_filename(const ReadOption& option) { result_.adds_filename = truth(option); }
  void read_union(const ReadOption& option) { result_.union_by_name = truth(option); }
  void read_hive(const ReadOption& option) { result_.hive_partitioning = truth(option); }
  void read_names(const ReadOption& option) {
    if (option.values.empty() || !option.keys.empty()) refuse(option, "a list of names, as in ['a', 'b']");
    refuse_repeated(option, option.values);
    result_.names = option.values;
  }
  void read_columns(const ReadOption& option) {
    if (option.keys.empty()) refuse(option, "names and types, as in {'a': 'INTEGER', 'b': 'VARCHAR'}");
    refuse_repeated(option, option.keys);
    for (size_t i = 0; i < option.keys.size(); ++i) result_.columns.push_back({option.keys[i], type_of(option, option.values[i])});
  }
  void read_types(const ReadOption& option) {
    if (option.values.empty()) refuse(option, "types, as in {'a': 'INTEGER'} or ['INTEGER', 'VARCHAR']");
    refuse_repeated(option, option.keys);
    for (size_t i = 0; i < option.values.size(); ++i) {
      const LogicalType type = type_of(option, option.values[i]);
      if (option.keys.empty()) {
        result_.listed_types.push_back(type);
      } else {
        result_.types.push_back({option.keys[i], type});
      }
    }
  }
  void read_compression(const ReadOption& option) {
    constexpr std::string_view wanted = "auto, none, gzip or zstd";
    const std::string word = lower_letters(single(option, wanted));
    if (word == "auto" || word == "auto_detect") {
      result_.compression = FileCompression::Auto;
    } else if (word == "none" || word == "uncompressed") {
      result_.compression = FileCompression::None;
    } else if (word == "gzip" || word == "gz") {
      result_.compression = FileCompression::Gzip;
    } else if (word == "zstd" || word == "zst") {
      result_.compression = FileCompression::Zstd;
    } else {
      refuse(option, wanted);
    }
  }
  void read_layout(const ReadOption& option) {
    constexpr std::string_view wanted = "auto, newline_delimited (nd), array or unstructured";
    const std::string word = lower_letters(single(option, wanted));
    if (word == "newline_delimited" || word == "nd") {
      result_.layout = JsonLayout::Lines;
    } else if (word == "array") {
      result_.layout = JsonLayout::Array;
    } else if (word == "unstructured") {
      result_.layout = JsonLayout::Loose;
    } else if (word != "auto") {
      refuse(option, wanted);
    }
  }
  void read_records(const ReadOption& option) {
    if (option.values.size() == 1 && lower_letters(option.values[0]) == "auto") return;
    result_.are_objects = truth(option);
  }

  const std::string_view function_;
  const TypeOfName& type_of_name_;
  ReadOptions result_;
};

constexpr unsigned kCsvOnly = 1U << static_cast<unsigned>(FileFormat::Csv);
constexpr unsigned kJsonOnly = 1U << static_cast<unsigned>(FileFormat::Json);
constexpr unsigned kText = kCsvOnly | kJsonOnly;
constexpr unsigned kArrowOnly = 1U << static_cast<unsigned>(FileFormat::Arrow);
constexpr unsigned kRows = kText | kArrowOnly;
constexpr unsigned kAllFormats = kRows | 1U << static_cast<unsigned>(FileFormat::Parquet);

const OptionReader::Known OptionReader::kKnown[] = {
    {"delim", kCsvOnly, &OptionReader::read_delimiter},
    {"delimiter", kCsvOnly, &OptionReader::read_delimiter},
    {"sep", kCsvOnly, &OptionReader::read_delimiter},
    {"separator", kCsvOnly, &OptionReader::read_delimiter},
    {"quote", kCsvOnly, &OptionReader::read_quote},
    {"escape", kCsvOnly, &OptionReader::read_escape},
    {"comment", kCsvOnly, &OptionReader::read_comment},
    {"header", kCsvOnly, &OptionReader::read_header},
    {"nullstr", kCsvOnly, &OptionReader::read_null},
    {"null", kCsvOnly, &OptionReader::read_null},
    {"skip", kCsvOnly, &OptionReader::read_skip},
    {"names", kCsvOnly, &OptionReader::read_names},
    {"column_names", kCsvOnly, &OptionReader::read_names},
    {"types", kCsvOnly, &OptionReader::read_types},
    {"dtypes", kCsvOnly, &OptionReader::read_types},
    {"column_types", kCsvOnly, &OptionReader::read_types},
    {"all_varchar", kCsvOnly, &OptionReader::read_all_text},
    {"null_padding", kCsvOnly, &OptionReader::read_padding},
    {"allow_quoted_nulls", kCsvOnly, &OptionReader::read_quoted_nulls},
    {"columns", kText, &OptionReader::read_columns},
    {"auto_detect", kText, &OptionReader::read_detect},
    {"sample_size", kText, &OptionReader::read_sample},
    {"ignore_errors", kText, &OptionReader::read_ignore},
    {"compression", kText, &OptionReader::read_compression},
    {"format", kJsonOnly, &OptionReader::read_layout},
    {"records", kJsonOnly, &OptionReader::read_records},
    {"filename", kAllFormats, &OptionReader::read_filename},
    {"union_by_name", kAllFormats, &OptionReader::read_union},
    {"hive_partitioning", kAllFormats, &OptionReader::read_hive},
};

void OptionReader::read(const ReadOption& option) {
  for (const Known& known : kKnown) {
    if (known.name != option.name || (known.formats & bit(result_.format)) == 0) continue;
    (this->*known.read)(option);
    return;
  }
  NearestName nearest(option.name);
  std::string names;
  for (const Known& known : kKnown) {
    if ((known.formats & bit(result_.format)) == 0) continue;
    nearest.consider(known.name);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  const std::string hint = nearest.nearest().empty() ? fmt::format("it has {}", names) : fmt::format("did you mean {}?", nearest.nearest());
  throw UserError(fmt::format("{} has no option {}; {}", function_, option.name, hint), option.position);
}

}  // namespace

ReadOptions read_options_of(std::string_view function, FileFormat format, const std::vector<ReadOption>& options,
                            const TypeOfName& type_of_name) {
  OptionReader reader(function, format, type_of_name);
  for (size_t i = 0; i < options.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (options[i].name == options[j].name)
        throw UserError(fmt::format("{} has the option {} twice", function, options[i].name), options[i].position);
    }
    reader.read(options[i]);
  }
  return reader.finish();
}

FileFormat format_of_file(std::string_view path) {
  std::string name = lower_letters(path.substr(0, path.find('?')));
  if (path.find("://") == std::string_view::npos) name = lower_letters(path);
  for (std::string_view packed : {".gz", ".zst", ".zstd"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  auto has = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
  };
  if (has({".csv", ".tsv"})) return FileFormat::Csv;
  if (has({".json", ".jsonl", ".ndjson"})) return FileFormat::Json;
  if (has({".arrow", ".arrows", ".feather", ".ipc"})) return FileFormat::Arrow;
  return FileFormat::Parquet;
}

std::string_view name_of(FileFormat format) {
  switch (format) {
    case FileFormat::Csv: return "CSV";
    case FileFormat::Json: return "JSON";
    case FileFormat::Arrow: return "Arrow";
    case FileFormat::Parquet:
    case FileFormat::Auto: return "Parquet";
  }
  return "";
}

}  // namespace pistachio
