// Expands a file, folder, glob or object-store address to a list of Parquet files with their hive partition values (folders named
// key=value). Sorted by path, so that scans in file order are deterministic.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel_token.h"
#include "storage/data_file.h"
#include "storage/object_store.h"

namespace pistachio {

struct FoundFile {
  std::string path;
  // key, value as written in the path (percent-decoded); in path order.
  std::vector<std::pair<std::string, std::string>> partitions;
};

// May wait for disks and stores, so call it on a blocking thread. Throws UserError naming the pattern if nothing matches, and Cancelled
// while listing local folders.
std::vector<FoundFile> find_files(ObjectStores& stores, const std::string& pattern, const CancelToken& token = {});

// Does `path` match `pattern`? `*`, `?` and `[...]` stay inside one folder; a component `**` stands for any number of folders.
bool matches_glob(std::string_view pattern, std::string_view path);

// key=value folders of a path; its last component is ignored. Of several folders with the same key the first counts, as in DuckDB.
std::vector<std::pair<std::string, std::string>> partitions_of(std::string_view path);

}  // namespace pistachio
