// Deduplicates rows with equal keys, for joins that only ask whether a match exists: one row represents all rows with the same keys.
#pragma once

#include <vector>

#include "data/column.h"
#include "memory/memory_account.h"

namespace pistachio {

struct KeyGroups {
  at::Tensor group_of;  // int64 [rows]
  at::Tensor row_of;    // int64 [groups]: a representative row
};

// NULL equals NULL. Scratch memory is reserved in the account. Throws Cancelled soon after the token is cancelled.
KeyGroups group_rows(const std::vector<Column>& keys, int64_t rows, at::Device device, const MemoryAccount& account,
                     const CancelToken& token);

}  // namespace pistachio
