#include "results/distinct_names.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace pistachio {

std::vector<std::string> distinct_names(const std::vector<ResultColumn>& columns) {
  // Keeps the result's own names where possible: a generated name yields to a later column's real name.
  std::unordered_set<std::string> taken;
  for (const ResultColumn& column : columns) taken.insert(column.name);
  std::unordered_map<std::string, int64_t> uses;
  std::vector<std::string> names;
  for (const ResultColumn& column : columns) {
    int64_t& count = uses[column.name];
    std::string name = column.name;
    while (count > 0 && !taken.insert(name = fmt::format("{}_{}", column.name, count)).second) ++count;
    ++count;
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace pistachio
