#include "readers/row_file_table.h"

#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "base/run_blocking.h"
#include "base/task_group.h"
#include "expr/type_rules.h"
#include "readers/arrow_columns.h"
#include "readers/arrow_source.h"
#include "readers/csv_sniffer.h"
#include "readers/json_sniffer.h"
#include "readers/text_source.h"

namespace pistachio {

namespace {

// The first file shows the types; of the others, enough to find their names and marks.
constexpr int64_t kFirstSample = 256 << 10;
constexpr int64_t kLongestSample = 16 << 20;
constexpr int64_t kOtherSample = 64 << 10;
// Samples that are read at the same time.
constexpr size_t kConcurrentSamples = 16;

struct OpenedSample {
  TextSample sample;
  std::optional<Reservation> memory = std::nullopt;  // of a long sample
  int64_t size = 0;
  FileCompression compression = FileCompression::None;
};

bool same_letters(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// What a sample must have, unless the file ends before.
struct SampleNeed {
  int64_t bytes = 0;
  int64_t rows = 0;
  int64_t most_bytes = kLongestSample;
  int64_t most_unreserved = kLongestSample;
};

SampleNeed sample_need(bool is_first, FileFormat format, const ReadOptions& options) {
  SampleNeed need;
  if (is_first) {
    need = {.bytes = kFirstSample, .rows = options.sample_rows};
  } else {
    // Several are read at the same time.
    need = {.bytes = kOtherSample, .rows = 0, .most_bytes = kLongestSample, .most_unreserved = kFirstSample};
    if (format != FileFormat::Csv) need.most_bytes = kOtherSample;
  }
  if (options.sample_rows == INT64_MAX) need.rows = need.most_bytes = INT64_MAX;
  return need;
}

int64_t count_lines(std::string_view text) {
  const int64_t newlines = std::count(text.begin(), text.end(), '\n');
  return newlines > 0 ? newlines : std::count(text.begin(), text.end(), '\r');
}

// Reads until the sample has enough lines for the rows wanted, or the file ends.
Task<OpenedSample> read_sample(StorageContext& storage, std::string path, ReadOptions options, SampleNeed need) {
  Task<std::shared_ptr<DataFile>> opening = open_data_file(storage, path);
  std::shared_ptr<DataFile> file = co_await opening;
  OpenedSample opened;
  opened.sample.path = path;
  opened.size = file->size();
  opened.compression = options.compression;
  if (opened.compression == FileCompression::Auto) {
    std::vector<uint8_t> head(4);
    TextSource plain(storage, file, FileCompression::None, /*need=*/0);
    Task<int64_t> reading = plain.read(head);
    head.resize(static_cast<size_t>(co_await reading));
    opened.compression = compression_of_bytes(head);
  }
  TextSource source(storage, file, opened.compression, /*need=*/0);
  std::string& text = opened.sample.text;
  // Tensors are accounted for; this buffer is not, so that a long sample is reserved.
  int64_t wanted = std::min(need.most_bytes, need.bytes);
  while (!opened.sample.is_whole) {
    if (wanted > need.most_unreserved) opened.memory = storage.memory.reserve_now(2 * wanted, ReservationKind::Held);
    const size_t before = text.size();
    text.resize(static_cast<size_t>(wanted));
    const std::span<uint8_t> target(reinterpret_cast<uint8_t*>(text.data()) + before, text.size() - before);
    Task<int64_t> reading = source.read(target);
    const int64_t read = co_await reading;
    text.resize(before + static_cast<size_t>(read));
    opened.sample.is_whole = read < static_cast<int64_t>(target.size());
    const bool has_rows = count_lines(text) - options.skip - 1 > need.rows;
    if (wanted >= need.most_bytes || has_rows) break;
    wanted = std::min(need.most_bytes, wanted * 4);
  }
  co_return opened;
}

// What a sample of one file showed, whatever the format.
struct SniffedFile {
  RowFile file;
  std::vector<std::string> names;
  std::vector<ValueShapes> shapes;
  bool has_names = true;  // in the file, rather than column0, column1
  bool has_header = false;
  bool is_cut = false;  // a longer sample tells more
  bool are_objects = true;
  int64_t records = 0;
  int64_t bytes = 0;
};

// What the first file settles for the others.
struct KnownHeader {
  bool is_known = false;
  bool has_header = false;
  std::vector<std::string> names;
};

SniffedFile sniff_file(const OpenedSample& opened, FileFormat format, const ReadOptions& options, const KnownHeader& known) {
  SniffedFile result;
  result.file.path = opened.sample.path;
  result.file.size = opened.size;
  result.file.compression = opened.compression;
  if (format == FileFormat::Json) {
    SniffedJson found = sniff_json(opened.sample, options);
    result.file.layout = found.layout;
    result.file.first_byte = found.first_byte;
    result.file.first_line = found.first_line;
    result.names = std::move(found.names);
    result.shapes = std::move(found.shapes);
    result.are_objects = found.are_objects;
    result.records = found.records;
    result.bytes = found.bytes;
    return result;
  }
  ReadOptions own = options;
  if (!own.delimiter &&
      (opened.sample.path.ends_with(".tsv") || opened.sample.path.ends_with(".tsv.gz") || opened.sample.path.ends_with(".tsv.zst")))
    own.delimiter = '\t';
  // A row of text only would be lost if the sample of one file took it for a header.
  if (known.is_known && !known.has_header && !own.header) own.header = false;
  SniffedCsv found = sniff_csv(opened.sample, own, known.names);
  result.has_header = found.has_header;
  result.is_cut = found.is_cut;
  result.file.dialect = found.dialect;
  result.file.first_byte = found.first_byte;
  result.file.first_line = found.first_line;
  result.file.fields = static_cast<int64_t>(found.names.size());
  result.has_names = found.has_header || !options.names.empty() || !options.columns.empty();
  result.names = std::move(found.names);
  result.shapes = std::move(found.shapes);
  result.records = found.records;
  result.bytes = found.bytes;
  return result;
}

// Columns of several files: by name if the files have names, else by place.
class ColumnUnion {
 public:
  ColumnUnion(FileFormat format, const ReadOptions& options) : format_(format), options_(options) {}

  void add(const SniffedFile& sniffed) {
    const bool is_first = files_++ == 0;
    std::vector<int64_t> own;
    for (size_t i = 0; i < sniffed.names.size(); ++i) {
      std::optional<size_t> place = sniffed.has_names && by_names_ ? find(sniffed.names[i])
                                    : i < names_.size()            ? std::optional(i)
                                                                   : std::nullopt;
      if (!place && !is_first && !may_add())
        refuse(sniffed, fmt::format("has a column {}, which {} does not have", sniffed.names[i], first_path_));
      if (!place) {
        place = names_.size();
        names_.push_back(sniffed.names[i]);
        shapes_.emplace_back();
      }
      shapes_[*place].merge(sniffed.shapes[i]);
      own.push_back(static_cast<int64_t>(*place));
    }
    if (is_first) first_path_ = sniffed.file.path;
    if (is_first) header_ = {true, sniffed.has_header, sniffed.has_header ? names_ : std::vector<std::string>()};
    if (is_first) by_names_ = sniffed.has_names;
    for (size_t i = 0; i < names_.size() && !is_first && !may_add(); ++i) {
      if (std::find(own.begin(), own.end(), static_cast<int64_t>(i)) == own.end())
        refuse(sniffed, fmt::format("has no column {}, which {} has", names_[i], first_path_));
    }
    places_.push_back(std::move(own));
  }

  // A file without a byte has neither columns nor rows.
  void add_empty() { places_.emplace_back(); }

  const KnownHeader& header() const { return header_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<int64_t>& places(size_t file) const { return places_[file]; }
  // Of the dates in all files: one alone may not tell.
  DateOrder date_order() const { return date_order_of(shapes_); }
  LogicalType type(size_t place) const { return options_.all_text ? LogicalType(TypeKind::Varchar) : shapes_[place].type(date_order()); }

 private:
  // Objects of JSON need not have all members.
  bool may_add() const { return format_ == FileFormat::Json || options_.union_by_name || options_.pads_nulls; }
  std::optional<size_t> find(const std::string& name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (format_ == FileFormat::Json ? names_[i] == name : same_letters(names_[i], name)) return i;
    }
    return std::nullopt;
  }
  [[noreturn]] void refuse(const SniffedFile& sniffed, const std::string& difference) const {
    throw UserError(fmt::format("{} {}; union_by_name = true reads both", sniffed.file.path, difference));
  }

  const FileFormat format_;
  const ReadOptions& options_;
  size_t files_ = 0;
  bool by_names_ = true;
  std::string first_path_;
  KnownHeader header_;
  std::vector<std::string> names_;
  std::vector<ValueShapes> shapes_;
  std::vector<std::vector<int64_t>> places_;  // by file: for each of its fields, the column
};

// Whether the records of JSON files are objects: in all files, or in none.
class RecordsKind {
 public:
  void add(const SniffedFile& sniffed) {
    if (sniffed.records == 0) return;
    if (first_path_.empty()) {
      are_objects_ = sniffed.are_objects;
      first_path_ = sniffed.file.path;
    }
    if (sniffed.are_objects == are_objects_) return;
    const std::string& objects = are_objects_ ? first_path_ : sniffed.file.path;
    const std::string& others = are_objects_ ? sniffed.file.path : first_path_;
    throw UserError(
        fmt::format("the records of {} are JSON objects, those of {} are not; records = false reads both as one column", objects, others));
  }

  bool are_objects() const { return are_objects_; }

 private:
  bool are_objects_ = true;
  std::string first_path_;
};

void apply_types(std::vector<RowFileColumn>& columns, const ReadOptions& options, FileFormat format) {
  if (options.listed_types.size() > columns.size())
    throw UserError(fmt::format("the file has {} column{}; {} are wanted", columns.size(), columns.size() == 1 ? "" : "s",
                                options.listed_types.size()));
  for (size_t i = 0; i < options.listed_types.size(); ++i) columns[i].type = options.listed_types[i];
  for (const TypedName& typed : options.types) {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const RowFileColumn& column) { return same_letters(column.name, typed.name); });
    if (found == columns.end()) throw UserError(fmt::format("types names the column {}, which the file does not have", typed.name));
    found->type = typed.type;
  }
  if (format != FileFormat::Csv) return;
  for (size_t i = 0; i < options.columns.size() && i < columns.size(); ++i) columns[i].type = options.columns[i].type;
}

// JSON with given columns: these and no others.
void choose_members(RowFileTable& table, const ReadOptions& options) {
  std::vector<RowFileColumn> columns;
  for (const TypedName& typed : options.columns) columns.push_back({.name = typed.name, .type = typed.type, .unsupported = {}});
  table.columns = std::move(columns);
  table.members.clear();
  for (const TypedName& typed : options.columns) table.members.push_back(typed.name);
  table.refuses_unknown = false;
  for (RowFile& file : table.files) {
    file.sources.clear();
    for (size_t i = 0; i < table.members.size(); ++i) file.sources.push_back(static_cast<int64_t>(i));
  }
}

// Columns that are not in the files: partition values and the file's name.
void add_outer_columns(RowFileTable& table, const TableListing& listing, const ReadOptions& options) {
  auto refuse_taken = [&](const std::string& name) {
    for (const RowFileColumn& column : table.columns) {
      if (same_letters(column.name, name)) throw UserError(fmt::format("the files have a column {} themselves", name));
    }
  };
  const bool has_partitions = options.hive_partitioning.value_or(true);
  for (size_t key = 0; has_partitions && key < listing.keys.size(); ++key) {
    // The folder's value counts, as in Parquet files.
    const auto taken = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const RowFileColumn& column) { return same_letters(column.name, listing.keys[key].name); });
    RowFileColumn column{listing.keys[key].name, listing.keys[key].type, static_cast<int64_t>(key), false, {}};
    if (taken != table.columns.end()) {
      column.name = taken->name;
      *taken = column;
    } else {
      table.columns.push_back(column);
    }
  }
  if (options.adds_filename) {
    refuse_taken("filename");
    table.columns.push_back({"filename", TypeKind::Varchar, -1, true, {}});
  }
  for (size_t i = 0; i < table.files.size(); ++i) {
    RowFile& file = table.files[i];
    file.sources.resize(table.columns.size(), -1);
    file.texts.resize(table.columns.size());
    file.are_null.resize(table.columns.size(), 1);
    for (size_t place = 0; place < table.columns.size(); ++place) {
      const RowFileColumn& column = table.columns[place];
      if (column.partition < 0 && !column.is_filename) continue;
      file.sources[place] = -1;
      const ScalarValue value = column.is_filename ? ScalarValue::of_text(TypeKind::Varchar, listing.files[i].path)
                                                   : listing.partition_value(i, static_cast<size_t>(column.partition));
      file.are_null[place] = value.is_null ? 1 : 0;
      if (!value.is_null) file.texts[place] = value.to_string();
    }
  }
}

}  // namespace

namespace {

// The fields of Arrow files, which need no sample: by name, with the wider of two types.
class ArrowUnion {
 public:
  ArrowUnion(RowFileTable& table, const ReadOptions& options) : table_(table), options_(options) {}

  void add(const std::string& path, int64_t size, const arrow::Schema& schema) {
    RowFile file;
    file.path = path;
    file.size = size;
    file.fields = schema.num_fields();
    file.sources.assign(table_.columns.size(), -1);
    for (int i = 0; i < schema.num_fields(); ++i) {
      const arrow::Field& field = *schema.field(i);
      const size_t place = place_of(field.name(), file);
      add_type(table_.columns[place], field, path);
      file.sources[place] = i;
    }
    for (size_t place = 0; place < file.sources.size() && !options_.union_by_name; ++place) {
      if (file.sources[place] < 0)
        refuse(fmt::format("{} has no column {}, which {} has", path, table_.columns[place].name, table_.files[0].path));
    }
    table_.files.push_back(std::move(file));
  }

 private:
  size_t place_of(const std::string& name, RowFile& file) {
    is_new_ = false;
    for (size_t place = 0; place < table_.columns.size(); ++place) {
      if (table_.columns[place].name == name && file.sources[place] < 0) return place;
    }
    if (!table_.files.empty() && !options_.union_by_name)
      refuse(fmt::format("{} has a column {}, which {} does not have", file.path, name, table_.files[0].path));
    is_new_ = true;
    table_.columns.push_back({.name = name, .type = TypeKind::Varchar, .unsupported = {}});
    for (RowFile& before : table_.files) before.sources.push_back(-1);
    file.sources.push_back(-1);
    return table_.columns.size() - 1;
  }

  void add_type(RowFileColumn& column, const arrow::Field& field, const std::string& path) const {
    const std::optional<LogicalType> type = type_of_arrow(*field.type());
    if (!type) {
      column.unsupported = fmt::format("columns of Arrow's type {} are not supported", field.type()->ToString());
      return;
    }
    const std::optional<LogicalType> common = is_new_ ? type : common_type(column.type, *type);
    if (!common)
      throw UserError(
          fmt::format("{}: the column {} is {}, in other files {}", path, column.name, type->to_string(), column.type.to_string()));
    column.type = *common;
  }

  [[noreturn]] static void refuse(const std::string& difference) { throw UserError(difference + "; union_by_name = true reads both"); }

  RowFileTable& table_;
  const ReadOptions& options_;
  bool is_new_ = false;  // the column that was found last
};

Task<void> open_arrow_files(StorageContext& storage, const TableListing& listing, const ReadOptions& options, RowFileTable& table) {
  ArrowUnion columns(table, options);
  double bytes = 0;
  for (const FoundFile& found : listing.files) {
    Task<std::shared_ptr<DataFile>> opening = open_data_file(storage, found.path);
    std::shared_ptr<DataFile> file = co_await opening;
    auto read = [&] { return ArrowSource(file, {}).schema(); };
    const std::shared_ptr<arrow::Schema> schema = co_await run_blocking(read);
    columns.add(found.path, file->size(), *schema);
    bytes += static_cast<double>(file->size());
  }
  double row_bytes = 1;
  std::vector<std::string> names;
  for (const RowFileColumn& column : table.columns) {
    row_bytes += column.type.is_text() ? 16.0 : static_cast<double>(column.type.value_bytes());
    names.push_back(column.name);
  }
  names = usable_names(std::move(names));
  for (size_t i = 0; i < names.size(); ++i) table.columns[i].name = names[i];
  table.record_bytes = row_bytes;
  table.estimated_rows = bytes / row_bytes;
}

}  // namespace

Task<RowFileTable> open_row_files(StorageContext& storage, const TableListing& listing, FileFormat format, const ReadOptions& options) {
  RowFileTable table;
  table.format = format;
  table.ignore_errors = options.ignore_errors;
  if (format == FileFormat::Arrow) {
    Task<void> opening = open_arrow_files(storage, listing, options, table);
    co_await opening;
    if (table.columns.empty()) throw UserError(fmt::format("{} has no columns", table.files.at(0).path));
    add_outer_columns(table, listing, options);
    co_return table;
  }
  ColumnUnion columns(format, options);
  RecordsKind records_kind;
  int64_t records = 0;
  int64_t bytes = 0;
  double text_bytes = 0;
  for (size_t begin = 0; begin < listing.files.size(); begin += kConcurrentSamples) {
    std::vector<Task<OpenedSample>> reading;
    for (size_t i = begin; i < std::min(begin + kConcurrentSamples, listing.files.size()); ++i)
      reading.push_back(read_sample(storage, listing.files[i].path, options, sample_need(i == 0, format, options)));
    Task<std::vector<OpenedSample>> all = when_all(std::move(reading));
    std::vector<OpenedSample> samples = co_await all;
    for (OpenedSample& opened : samples) {
      SniffedFile sniffed = sniff_file(opened, format, options, columns.header());
      while (sniffed.is_cut && std::ssize(opened.sample.text) < kLongestSample) {
        SampleNeed longer = sample_need(/*is_first=*/false, format, options);
        longer.bytes = std::min(kLongestSample, 4 * static_cast<int64_t>(std::ssize(opened.sample.text)));
        Task<OpenedSample> rereading = read_sample(storage, sniffed.file.path, options, longer);
        opened = co_await rereading;
        sniffed = sniff_file(opened, format, options, columns.header());
      }
      const bool is_last = table.files.size() + 1 == listing.files.size();
      if (format == FileFormat::Csv && opened.sample.text.empty() && (columns.header().is_known || !is_last)) {
        sniffed.file.fields = 0;
        columns.add_empty();
        table.files.push_back(std::move(sniffed.file));
        continue;
      }
      columns.add(sniffed);
      records_kind.add(sniffed);
      records += sniffed.records;
      bytes += sniffed.bytes;
      // Text is usually packed to a quarter.
      text_bytes += static_cast<double>(opened.size) * (opened.compression == FileCompression::None ? 1 : 4);
      table.files.push_back(std::move(sniffed.file));
    }
  }
  table.are_objects = records_kind.are_objects();
  for (size_t i = 0; i < columns.names().size(); ++i)
    table.columns.push_back({.name = columns.names()[i], .type = columns.type(i), .unsupported = {}});
  for (size_t i = 0; i < table.files.size(); ++i) {
    table.files[i].dialect.date_order = columns.date_order();
    std::vector<int64_t>& sources = table.files[i].sources;
    sources.assign(table.columns.size(), -1);
    const std::vector<int64_t>& places = columns.places(i);
    for (size_t field = 0; field < places.size(); ++field) {
      const auto place = static_cast<size_t>(places[field]);
      sources[place] = format == FileFormat::Json ? places[field] : static_cast<int64_t>(field);
    }
    // All members of JSON may occur behind the sample.
    for (size_t place = 0; format == FileFormat::Json && place < sources.size(); ++place) sources[place] = static_cast<int64_t>(place);
  }
  if (format == FileFormat::Json) {
    table.members = columns.names();
    if (!options.columns.empty()) choose_members(table, options);
    std::vector<std::string> names;
    for (const RowFileColumn& column : table.columns) names.push_back(column.name);
    names = usable_names(std::move(names));
    for (size_t i = 0; i < names.size(); ++i) table.columns[i].name = names[i];
  }
  apply_types(table.columns, options, format);
  if (table.columns.empty()) throw UserError(fmt::format("{} has no columns", table.files.at(0).path));
  add_outer_columns(table, listing, options);
  if (records > 0) table.record_bytes = std::max(1.0, static_cast<double>(bytes) / static_cast<double>(records));
  table.estimated_rows = records > 0 ? std::max(1.0, text_bytes / table.record_bytes) : 0;
  co_return table;
}

}  // namespace pistachio
