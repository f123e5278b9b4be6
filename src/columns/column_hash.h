// One 64-bit hash per row of one or more key columns. NULL hashes like a distinct value, so that rows with NULL keys group together.
#pragma once

#include <vector>

#include "base/cancel_token.h"
#include "data/column.h"

namespace pistachio {

// int64 [rows]. At least one column. Throws Cancelled soon after the token is cancelled.
at::Tensor hash_rows(const std::vector<Column>& keys, const CancelToken& token = {});

// Whether equal hashes imply equal values, NULL aside: true for types held in one integer, whose hash is a permutation of 64 bits.
bool hash_is_exact(LogicalType type);

}  // namespace pistachio
