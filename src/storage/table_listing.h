// The files of a table as found by name, with their hive partition values, before their footers are read. A query with a condition on a
// partition column need not open most of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "data/scalar_value.h"
#include "storage/file_discovery.h"
#include "storage/storage_context.h"

namespace pistachio {

struct PartitionKey {
  std::string name;
  LogicalType type = TypeKind::Varchar;  // BIGINT or DATE if every value of the listing is one
};

struct TableListing {
  std::vector<std::string> patterns;
  std::vector<FoundFile> files;    // at least one, unless each rank finds its own (local_files)
  std::vector<PartitionKey> keys;  // the same for all files

  bool is_key(std::string_view name) const;  // ignoring case
  ScalarValue partition_value(size_t file, size_t key) const;
};

// Throws UserError if no file is found or the files have different partition keys.
Task<TableListing> list_table(StorageContext& storage, std::vector<std::string> patterns);

}  // namespace pistachio
