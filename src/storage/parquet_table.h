// A set of Parquet files read as one table: one schema, hive partition values as additional columns, footers of its files loaded.
// Immutable; used by scans, the planner and `pistachio schema`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "storage/metadata_cache.h"
#include "storage/storage_context.h"
#include "storage/table_listing.h"

namespace pistachio {

struct TableColumn {
  std::string name;
  LogicalType type = TypeKind::Blob;
  int leaf = -1;       // in the first file; -1 for a partition column
  int partition = -1;  // position among the partition keys; -1 for a column in the files
  std::string unsupported;
};

struct TableFile {
  std::shared_ptr<DataFile> file;
  std::shared_ptr<const FileMetadata> metadata;
  std::vector<ScalarValue> partition_values;
  std::vector<int> leaf_of_column;  // for each table column, the leaf in this file; -1 for partition columns

  const ParquetFooter& footer() const { return *metadata->footer; }
};

struct ParquetTable {
  std::shared_ptr<const TableListing> listing;
  std::vector<size_t> places;  // of `files` in the listing, ascending
  std::vector<TableColumn> columns;
  std::vector<TableFile> files;
  int64_t rows = 0;

  // By exact name first, then ignoring case. Throws UserError that suggests similar names.
  const TableColumn& column(std::string_view name) const;
};

// Opens these files of a listing, at least one, and reads their footers concurrently. Throws UserError if their schemas differ (naming
// file, column and both types), DataError for damaged footers.
Task<ParquetTable> open_table(StorageContext& storage, std::shared_ptr<const TableListing> listing, std::vector<size_t> places);
// All files that the patterns name.
Task<ParquetTable> open_table(StorageContext& storage, std::vector<std::string> patterns);

std::vector<size_t> all_places(const TableListing& listing);

}  // namespace pistachio
