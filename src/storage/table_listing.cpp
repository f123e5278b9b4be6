#include "storage/table_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/run_blocking.h"
#include "storage/same_name.h"

namespace pistachio {

namespace {

constexpr std::string_view kNullPartition = "__HIVE_DEFAULT_PARTITION__";

bool all_parse(const std::vector<FoundFile>& files, size_t key, LogicalType type) {
  return std::all_of(files.begin(), files.end(), [&](const FoundFile& file) {
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

LogicalType partition_type(const std::vector<FoundFile>& files, size_t key) {
  for (LogicalType type : {LogicalType(TypeKind::BigInt), LogicalType(TypeKind::Date)}) {
    if (all_parse(files, key, type)) return type;
  }
  return TypeKind::Varchar;
}

void check_partition_keys(const std::vector<FoundFile>& files) {
  for (const FoundFile& file : files) {
    bool same = file.partitions.size() == files[0].partitions.size();
    for (size_t key = 0; same && key < file.partitions.size(); ++key) same = file.partitions[key].first == files[0].partitions[key].first;
    if (!same) throw UserError(fmt::format("{} and {} are in folders with different partition keys", files[0].path, file.path));
  }
}

}  // namespace

bool TableListing::is_key(std::string_view name) const {
  return std::any_of(keys.begin(), keys.end(), [&](const PartitionKey& key) { return same_name(key.name, name); });
}

ScalarValue TableListing::partition_value(size_t file, size_t key) const {
  const std::string& text = files[file].partitions[key].second;
  return text == kNullPartition ? ScalarValue::null(keys[key].type) : parse_constant(keys[key].type, text).value;
}

Task<TableListing> list_table(StorageContext& storage, std::vector<std::string> patterns) {
  const TaskContext& task = co_await current_context();
  TableListing listing;
  for (const std::string& pattern : patterns) {
    auto find = [&] { return find_files(storage.object_stores, pattern, task.token); };
    std::vector<FoundFile> more = co_await run_blocking(find);
    std::move(more.begin(), more.end(), std::back_inserter(listing.files));
  }
  if (listing.files.empty()) throw UserError("no file was named");
  listing.patterns = std::move(patterns);
  check_partition_keys(listing.files);
  for (size_t key = 0; key < listing.files[0].partitions.size(); ++key)
    listing.keys.push_back({listing.files[0].partitions[key].first, partition_type(listing.files, key)});
  co_return listing;
}

}  // namespace pistachio
