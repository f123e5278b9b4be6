#include "storage/parquet_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_set>

#include "base/check.h"
#include "base/run_blocking.h"
#include "base/task_group.h"
#include "storage/open_files.h"
#include "storage/same_name.h"

namespace pistachio {

namespace {

// A query may use many tables, and many systems allow 1,024 descriptors per process.
constexpr size_t kMaxOpenFiles = 64;
// Footers loaded concurrently: each may hold a buffer while it waits for its read.
constexpr size_t kMaxOpening = 256;

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
    throw UserError(
        fmt::format("{} has no column {}, which {} has; the files of one scan must have the same columns (union_by_name = true reads both)",
                    file.file->path(), column.name, first_path));
  const ParquetColumn& other = file.footer().columns[static_cast<size_t>(leaf)];
  // An unreadable column needs no type; columns of the same name may have different ones.
  if (!column.unsupported.empty() || !other.is_supported()) return leaf;
  if (other.type != column.type) {
    throw UserError(
        fmt::format("column {} is {} in {} and {} in {}; the files of one scan must have the same types (union_by_name = true widens them)",
                    column.name, column.type.to_string(), first_path, other.type.to_string(), file.file->path()));
  }
  return leaf;
}

void bind_file(ParquetTable& table, const ColumnNames& names, size_t index) {
  TableFile& file = table.files[index];
  const std::string& first_path = table.files[0].file->path();
  std::vector<bool> is_used(file.footer().columns.size());  // by leaf
  for (const TableColumn& column : table.columns) {
    file.leaf_of_column.push_back(column.partition >= 0 ? -1 : index == 0 ? column.leaf : matching_leaf(table, names, file, column));
    if (column.partition < 0) {
      is_used[static_cast<size_t>(file.leaf_of_column.back())] = true;
      continue;
    }
    file.partition_values.push_back(table.listing->partition_value(table.places[index], static_cast<size_t>(column.partition)));
  }
  for (const ParquetColumn& column : file.footer().columns) {
    // A name that differs from a known one only in case is a separate column if the known one already has a leaf.
    bool known = is_used[static_cast<size_t>(column.leaf)] || table.listing->is_key(column.name) || names.contains(column.name);
    if (!known)
      throw UserError(fmt::format(
          "{} has a column {}, which {} does not have; the files of one scan must have the same columns (union_by_name = true reads both)",
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

Task<ParquetTable> open_table(StorageContext& storage, std::shared_ptr<const TableListing> listing, std::vector<size_t> places) {
  ParquetTable table;
  table.listing = std::move(listing);
  table.places = std::move(places);
  auto open_files = std::make_shared<OpenFiles>(kMaxOpenFiles);
  for (size_t begin = 0; begin < table.places.size(); begin += kMaxOpening) {
    std::vector<Task<TableFile>> opening;
    for (size_t i = begin; i < std::min(begin + kMaxOpening, table.places.size()); ++i)
      opening.push_back(open_one(storage, table.listing->files[table.places[i]], open_files));
    Task<std::vector<TableFile>> all = when_all(std::move(opening));
    std::vector<TableFile> opened = co_await all;
    std::move(opened.begin(), opened.end(), std::back_inserter(table.files));
  }

  unify_precision(table);
  for (const ParquetColumn& column : table.files[0].footer().columns) {
    if (table.listing->is_key(column.name)) continue;  // the folder's value overrides the file's
    table.columns.push_back({column.name, column.type, column.leaf, -1, column.unsupported});
  }
  for (size_t key = 0; key < table.listing->keys.size(); ++key)
    table.columns.push_back({table.listing->keys[key].name, table.listing->keys[key].type, -1, static_cast<int>(key), ""});
  ColumnNames names;
  for (const TableColumn& column : table.columns) names.insert(column.name);
  for (size_t index = 0; index < table.files.size(); ++index) bind_file(table, names, index);
  co_return table;
}

std::vector<size_t> all_places(const TableListing& listing) {
  std::vector<size_t> places(listing.files.size());
  std::iota(places.begin(), places.end(), size_t{0});
  return places;
}

Task<ParquetTable> open_table(StorageContext& storage, std::vector<std::string> patterns) {
  Task<TableListing> listing = list_table(storage, std::move(patterns));
  TableListing found = co_await listing;
  auto listed = std::make_shared<const TableListing>(std::move(found));
  Task<ParquetTable> opening = open_table(storage, listed, all_places(*listed));
  ParquetTable table = co_await opening;
  co_return table;
}

}  // namespace pistachio
