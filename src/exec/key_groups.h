// Rows with equal keys as one: for joins that ask only whether there is a match, one row stands for all that have the same keys.
#pragma once

#include <vector>

#include "data/column.h"
#include "memory/memory_account.h"

namespace pistachio {

struct KeyGroups {
  at::Tensor group_of;  // int64 [rows]
  at::Tensor row_of;    // int64 [groups]: one of its rows
};

// NULL equals NULL. The memory it takes while it runs is reserved in the account.
KeyGroups group_rows(const std::vector<Column>& keys, int64_t rows, at::Device device, const MemoryAccount& account);

}  // namespace pistachio
