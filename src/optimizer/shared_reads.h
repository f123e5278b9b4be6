// Reads of common table expressions.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "expr/column_set.h"
#include "logical/logical_node.h"

namespace pistachio {

// Drops the other columns of the read.
inline void keep_read_columns(LogicalSharedRead& read, const ColumnSet& wanted) {
  std::vector<ColumnId> columns;
  std::vector<ColumnId> sources;
  for (size_t i = 0; i < read.columns.size(); ++i) {
    if (!wanted.contains(read.columns[i])) continue;
    columns.push_back(read.columns[i]);
    sources.push_back(read.sources[i]);
  }
  read.columns = std::move(columns);
  read.sources = std::move(sources);
}

}  // namespace pistachio
