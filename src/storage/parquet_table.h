// A set of Parquet files read as one table: one schema, hive partition values as further columns, footers of all files at hand.
// Immutable; what a scan, a planner and `pistachio schema` start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "storage/metadata_cache.h"
#include "storage/storage_context.h"

namespace pistachio {

struct TableColumn {
  std::string name;
  LogicalType type = TypeKind::Blob;
  int leaf = -1;       // in the first file; -1 for a partition column
  int partition = -1;  // position among the partition keys; -1 for a column of the files
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
  std::vector<std::string> patterns;  // what it was opened by
  std::vector<TableColumn> columns;
  std::vector<TableFile> files;
  int64_t rows = 0;

  // By exact name first, then ignoring case. Throws UserError that lists near names.
  const TableColumn& column(std::string_view name) const;
};

// Finds the files, opens them and reads their footers (all at the same time). Throws UserError when there is nothing to read or the
// schemas differ (naming file, column and both types), DataError for damaged footers.
Task<ParquetTable> open_table(StorageContext& storage, std::vector<std::string> patterns);

}  // namespace pistachio
