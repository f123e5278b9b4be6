#include "base/error.h"

#include <fmt/format.h>

namespace pistachio {

std::string DataLocation::to_string() const {
  std::string text = file;
  if (row_group >= 0) text += fmt::format(", row group {}", row_group);
  if (!column.empty()) text += fmt::format(", column {}", column);
  if (offset >= 0) text += fmt::format(", offset {}", offset);
  return text;
}

DataError::DataError(const std::string& problem, DataLocation location)
    : Error(fmt::format("{}: {}", location.to_string(), problem)), location_(std::move(location)) {}

PeerError::PeerError(int rank, const std::string& problem) : Error(fmt::format("rank {}: {}", rank, problem)), rank_(rank) {}

}  // namespace pistachio
