#include "storage/parquet_table.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/check.h"
#include "base/run_blocking.h"
#include "base/task_group.h"
#include "storage/file_discovery.h"
#include "storage/open_files.h"

namespace pistachio {

namespace {

constexpr std::string_view kNullPartition = "__HIVE_DEFAULT_PARTITION__";

// A query may use many tables, and many systems allow 1,024 descriptors per process.
constexpr size_t kMostOpenFiles = 64;
// Footers loaded concurrently: each may hold a buffer while it waits for its read.
constexpr size_t kMostOpening = 256;

Task<TableFile> open_one(StorageContext& storage, const FoundFile& found, std::shared_ptr<OpenFiles> open_files) {
  TableFile opened;
  auto open = [&] {
    return is_object_address(found.path) ? storage.object_stores.open(found.path)
                                         : open_local_file(found.path, storage.settings.direct_io, open_files);
  };
  opened.file = co_await run_blocking(open);
  if (storage.settings.metadata_cache) opened.metadata = storage.metadata_cache.find(found.path, opened.file->identity());
  if (opened.metadata == nullptr) {
    Task<std::shared_ptr<const FileMetadata>> loading = load_file_metadata(storage.read_pool, opened.file);
    opened.metadata = co_await loading;
    if (storage.settings.metadata_cache) storage.metadata_cache.insert(found.path, opened.file->identity(), opened.metadata);
  }
  co_return opened;
}

bool all_parse(const std::vector<FoundFile>& found, size_t key, LogicalType type) {
  return std::all_of(found.begin(), found.end(), [&](const FoundFile& file) {
    const std::string& text = file.partitions[key].second;
    if (text == kNullPartition) return true;
    try {
      ParsedConstant parsed = parse_constant(type, text);
      // 007 stays text, and so do dates out of the type's range.
      return parsed.exact && !parsed.below && !parsed.above && parsed.value.to_string() == text;
    } catch (const UserError&) {
      return false;
    }
  });
}

LogicalType partition_type(const std::vector<FoundFile>& found, size_t key) {
  for (LogicalType type : {LogicalType(TypeKind::BigInt), LogicalType(TypeKind::Date)}) {
    if (all_parse(found, key, type)) return type;
  }
  return TypeKind::Varchar;
}

void check_partition_keys(const std::vector<FoundFile>& found) {
  for (const FoundFile& file : found) {
    bool same = file.partitions.size() == found[0].partitions.size();
    for (size_t key = 0; same && key < file.partitions.size(); ++key) same = file.partitions[key].first == found[0].partitions[key].first;
    if (!same) throw UserError(fmt::format("{} and {} are in folders with different partition keys", found[0].path, file.path));
  }
}

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

bool is_partition_key(const std::vector<FoundFile>& found, std::string_view name) {
  const auto& keys = found[0].partitions;
  return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return same_name(key.first, name); });
}

// The file's metadata with these columns in nanoseconds instead of microseconds. It has its own page indexes, with bounds in
// nanoseconds, which are not cached.
std::shared_ptr<const FileMetadata> with_nanoseconds(const FileMetadata& metadata, const std::vector<int>& leaves) {
  auto footer = std::make_shared<ParquetFooter>(*metadata.footer);
  for (int leaf : leaves) {
    ParquetColumn& column = footer->columns[static_cast<size_t>(leaf)];
    column.type = in_nanoseconds(column.type);
    column.micros_to_nanos = true;
    for (RowGroupInfo& group : footer->row_groups) {
      ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(leaf)];
      for (std::optional<ScalarValue>* bound : {&chunk.minimum, &chunk.maximum}) {
        if (*bound) *bound = ScalarValue::of_integer(column.type, (*bound)->integer * 1000);
      }
    }
  }
  auto changed = std::make_shared<FileMetadata>();
  changed->footer = footer;
  changed->page_indexes = std::make_shared<PageIndexes>(footer);
  return changed;
}

// A column that has nanoseconds in one file of the table has them in all.
void unify_precision(ParquetTable& table) {
  std::vector<std::vector<int>> leaves(table.files.size());
  for (const ParquetColumn& first : table.files[0].footer().columns) {
    LogicalType wanted = in_nanoseconds(first.type);
    if (!first.is_supported() || !wanted.has_nanoseconds()) continue;
    bool any = false;
    std::vector<int> coarse(table.files.size(), -1);
    for (size_t file = 0; file < table.files.size(); ++file) {
      const ParquetFooter& footer = table.files[file].footer();
      int leaf = footer.find_column(first.name);
      if (leaf < 0 || in_nanoseconds(footer.columns[static_cast<size_t>(leaf)].type) != wanted) continue;
      bool has_nanos = footer.columns[static_cast<size_t>(leaf)].type.has_nanoseconds();
      any = any || has_nanos;
      if (!has_nanos) coarse[file] = leaf;
    }
    for (size_t file = 0; any && file < table.files.size(); ++file) {
      if (coarse[file] >= 0) leaves[file].push_back(coarse[file]);
    }
  }
  for (size_t file = 0; file < table.files.size(); ++file) {
    if (!leaves[file].empty()) table.files[file].metadata = with_nanoseconds(*table.files[file].metadata, leaves[file]);
  }
}

using ColumnNames = std::unordered_set<std::string_view>;

// The leaf of a table column in another file, checked to be of the same type. Files of one writer have the same column positions, so that
// position is tried before a search.
int matching_leaf(const ParquetTable& table, const ColumnNames& names, const TableFile& file, const TableColumn& column) {
  const std::string& first_path = table.files[0].file->path();
  const std::vector<ParquetColumn>& own = file.footer().columns;
  const size_t place = static_cast<size_t>(column.leaf);
  bool is_in_place = place < own.size() && own[place].name == column.name && column.unsupported.empty();
  int leaf = is_in_place ? column.leaf : file.footer().find_column(column.name);
  // A case-insensitive match counts only if it is not another column's exact name: a table may have both `a` and `A`.
  auto is_taken = [&](const std::string& name) { return name != column.name && names.contains(name); };
  if (leaf < 0 || is_taken(file.footer().columns[static_cast<size_t>(leaf)].name))
    throw UserError(fmt::format("{} has no column {}, which {} has; the files of one scan must have the same columns", file.file->path(),
                                column.name, first_path));
  const ParquetColumn& other = file.footer().columns[static_cast<size_t>(leaf)];
  // An unreadable column needs no type; columns of the same name may have different ones.
  if (!column.unsupported.empty() || !other.is_supported()) return leaf;
  if (other.type != column.type) {
    throw UserError(fmt::format("column {} is {} in {} and {} in {}; the files of one scan must have the same types", column.name,
                                column.type.to_string(), first_path, other.type.to_string(), file.file->path()));
  }
  return leaf;
}

void bind_file(ParquetTable& table, const ColumnNames& names, TableFile& file, const std::vector<FoundFile>& found, size_t index) {
  const std::string& first_path = table.files[0].file->path();
  std::vector<bool> is_used(file.footer().columns.size());  // by leaf
  for (const TableColumn& column : table.columns) {
    file.leaf_of_column.push_back(column.partition >= 0 ? -1 : index == 0 ? column.leaf : matching_leaf(table, names, file, column));
    if (column.partition < 0) {
      is_used[static_cast<size_t>(file.leaf_of_column.back())] = true;
      continue;
    }
    const std::string& text = found[index].partitions[static_cast<size_t>(column.partition)].second;
    file.partition_values.push_back(text == kNullPartition ? ScalarValue::null(column.type) : parse_constant(column.type, text).value);
  }
  for (const ParquetColumn& column : file.footer().columns) {
    // A name that differs from a known one only in case is a separate column if the known one already has a leaf.
    bool known = is_used[static_cast<size_t>(column.leaf)] || is_partition_key(found, column.name) || names.contains(column.name);
    if (!known)
      throw UserError(fmt::format("{} has a column {}, which {} does not have; the files of one scan must have the same columns",
                                  file.file->path(), column.name, first_path));
  }
  if (__builtin_add_overflow(table.rows, file.footer().rows, &table.rows))
    throw DataError(fmt::format("with its {} rows the table has too many to count", file.footer().rows), {file.file->path()});
}

}  // namespace

const TableColumn& ParquetTable::column(std::string_view name) const {
  for (const TableColumn& column : columns) {
    if (column.name == name) return column;
  }
  std::string known;
  std::string below;
  for (const TableColumn& column : columns) {
    if (same_name(column.name, name)) return column;
    known += (known.empty() ? "" : ", ") + column.name;
    if (below.empty() && column.name.starts_with(std::string(name) + ".")) below = column.name;
  }
  if (!below.empty())
    throw UserError(fmt::format("column {} is nested and cannot be read as a whole; its parts are columns such as {}", name, below));
  throw UserError(fmt::format("there is no column {}; the columns are {}", name, known));
}

Task<ParquetTable> open_table(StorageContext& storage, std::vector<std::string> patterns) {
  const TaskContext& task = co_await current_context();
  std::vector<FoundFile> found;
  for (const std::string& pattern : patterns) {
    auto find = [&] { return find_files(storage.object_stores, pattern, task.token); };
    std::vector<FoundFile> more = co_await run_blocking(find);
    found.insert(found.end(), more.begin(), more.end());
  }
  if (found.empty()) throw UserError("no file was named");
  check_partition_keys(found);

  ParquetTable table;
  table.patterns = patterns;
  auto open_files = std::make_shared<OpenFiles>(kMostOpenFiles);
  for (size_t begin = 0; begin < found.size(); begin += kMostOpening) {
    std::vector<Task<TableFile>> opening;
    for (size_t i = begin; i < std::min(begin + kMostOpening, found.size()); ++i)
      opening.push_back(open_one(storage, found[i], open_files));
    Task<std::vector<TableFile>> all = when_all(std::move(opening));
    std::vector<TableFile> opened = co_await all;
    std::move(opened.begin(), opened.end(), std::back_inserter(table.files));
  }

  unify_precision(table);
  for (const ParquetColumn& column : table.files[0].footer().columns) {
    if (is_partition_key(found, column.name)) continue;  // the folder's value overrides the file's
    table.columns.push_back({column.name, column.type, column.leaf, -1, column.unsupported});
  }
  for (size_t key = 0; key < found[0].partitions.size(); ++key) {
    table.columns.push_back({found[0].partitions[key].first, partition_type(found, key), -1, static_cast<int>(key), ""});
  }
  ColumnNames names;
  for (const TableColumn& column : table.columns) names.insert(column.name);
  for (size_t index = 0; index < table.files.size(); ++index) bind_file(table, names, table.files[index], found, index);
  co_return table;
}

}  // namespace pistachio
