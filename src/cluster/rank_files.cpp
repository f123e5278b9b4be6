#include "cluster/rank_files.h"

#include <fmt/format.h>

#include "config/settings.h"
#include "storage/storage_context.h"

namespace pistachio {

std::string path_for_rank(std::string path, int rank) {
  constexpr std::string_view word = "{rank}";
  std::string number = fmt::format("{}", rank);
  for (size_t place = path.find(word); place != std::string::npos; place = path.find(word, place + number.size()))
    path.replace(place, word.size(), number);
  return path;
}

Task<TableListing> list_rank_table(StorageContext& storage, std::vector<std::string> patterns, int rank) {
  std::vector<std::string> own = patterns;
  if (storage.settings.local_files) {
    for (std::string& pattern : own) pattern = path_for_rank(std::move(pattern), rank);
  }
  Task<TableListing> listing = list_table(storage, std::move(own));
  TableListing listed = co_await listing;
  listed.patterns = std::move(patterns);
  co_return listed;
}

Task<ParquetTable> open_rank_table(StorageContext& storage, TableListing listing, int rank) {
  if (listing.files.empty()) {
    Task<TableListing> finding = list_rank_table(storage, std::move(listing.patterns), rank);
    listing = co_await finding;
  }
  auto listed = std::make_shared<const TableListing>(std::move(listing));
  Task<ParquetTable> opening = open_table(storage, listed, all_places(*listed));
  ParquetTable table = co_await opening;
  co_return table;
}

}  // namespace pistachio
