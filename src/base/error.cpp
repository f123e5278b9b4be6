#include "base/error.h"

#include <fmt/format.h>

namespace pistachio {

std::string DataLocation::to_string() const {
  std::string text = file;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (row_group >= 0) add(fmt::format("row group {}", row_group));
  if (!column.empty()) add("column " + column);
  if (offset >= 0) add(fmt::format("offset {}", offset));
  return text;
}

DataError::DataError(std::string problem, DataLocation location)
    : Error(location.to_string().empty() ? problem : fmt::format("{}: {}", location.to_string(), problem)),
      problem_(std::move(problem)),
      location_(std::move(location)) {}

PeerError::PeerError(int rank, const std::string& problem) : Error(fmt::format("rank {}: {}", rank, problem)), rank_(rank) {}

}  // namespace pistachio
