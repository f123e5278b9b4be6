// From what a user names (a file, a folder, a glob, an object-store address) to a list of Parquet files with their hive partition values
// (folders named key=value). Sorted by path, so that a scan in file order is the same every time.
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

// Finds files; may wait for disks and stores, so it is called on the pool for blocking calls. Throws UserError that says what was
// looked for when there is nothing to read, and Cancelled while it goes through local folders.
std::vector<FoundFile> find_files(ObjectStores& stores, const std::string& pattern, const CancelToken& token = {});

// Does `path` match `pattern`? `*`, `?` and `[...]` stay inside one folder; a component `**` stands for any number of folders.
bool matches_glob(std::string_view pattern, std::string_view path);

// key=value folders of a path, without its last component.
std::vector<std::pair<std::string, std::string>> partitions_of(std::string_view path);

}  // namespace pistachio
