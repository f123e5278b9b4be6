// The options of read_csv, read_json, read_parquet and COPY FROM, as given: names, values and types are checked, files are not looked at.
// A value; safe to share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/logical_type.h"
#include "readers/json_layout.h"
#include "readers/text_dialect.h"

namespace pistachio {

enum class FileFormat : uint8_t { Auto, Parquet, Csv, Json, Arrow };
enum class FileCompression : uint8_t { Auto, None, Gzip, Zstd };

// An option as written: name = 'a', name = ['a', 'b'] or name = {'key': 'a'}.
struct ReadOption {
  std::string name;  // in lower case
  std::vector<std::string> values;
  std::vector<std::string> keys;  // of {...}; else empty
  bool is_list = false;
  int64_t position = -1;
};

struct TypedName {
  std::string name;
  LogicalType type;
};

struct ReadOptions {
  FileFormat format = FileFormat::Auto;
  FileCompression compression = FileCompression::Auto;
  std::optional<char> delimiter;
  std::optional<char> quote;  // 0: none
  std::optional<char> escape;
  std::optional<char> comment;
  std::optional<bool> header;
  std::optional<std::vector<std::string>> null_texts;
  std::optional<JsonLayout> layout;
  std::optional<bool> are_objects;  // the records of a JSON file
  int64_t skip = 0;                 // lines before the header
  int64_t sample_rows = 20480;
  bool detects = true;  // names, types and marks that are not given are found in a sample
  bool all_text = false;
  bool ignore_errors = false;
  bool pads_nulls = false;
  bool quoted_may_be_null = true;
  std::vector<TypedName> columns;         // all columns
  std::vector<std::string> names;         // of the first columns
  std::vector<TypedName> types;           // of columns by name
  std::vector<LogicalType> listed_types;  // of the first columns
  bool adds_filename = false;
  bool union_by_name = false;
  std::optional<bool> hive_partitioning;
};

// The type with a name such as DECIMAL(10, 2). Throws UserError.
using TypeOfName = std::function<LogicalType(const std::string&)>;

// `function`: read_csv, read_json, read_parquet or read_arrow, for errors; `format` is the one it reads. Throws UserError with the option's
// position.
ReadOptions read_options_of(std::string_view function, FileFormat format, const std::vector<ReadOption>& options,
                            const TypeOfName& type_of_name);

// By the ending of the name, without .gz or .zst.
FileFormat format_of_file(std::string_view path);
std::string_view name_of(FileFormat format);

}  // namespace pistachio
