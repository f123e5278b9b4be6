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

Task<ParquetTable> open_rank_table(StorageContext& storage, std::vector<std::string> patterns, int rank) {
  std::vector<std::string> own = patterns;
  if (storage.settings.local_files) {
    for (std::string& pattern : own) pattern = path_for_rank(std::move(pattern), rank);
  }
  Task<ParquetTable> opening = open_table(storage, std::move(own));
  ParquetTable table = co_await opening;
  table.patterns = std::move(patterns);
  co_return table;
}

}  // namespace pistachio
