// Concatenates columns. Pieces that share one dictionary stay dictionary-coded; others are decoded.
#pragma once

#include <vector>

#include "base/cancel_token.h"
#include "data/column.h"

namespace pistachio {

// `pieces` has at least one column; all are of one type. Throws Cancelled soon after the token is cancelled.
Column concatenate_columns(const std::vector<Column>& pieces, const CancelToken& token = {});

// The same, but text with different dictionaries stays coded where that is shorter: the dictionaries are concatenated, so that an entry
// can occur more than once.
Column concatenate_coded(const std::vector<Column>& pieces);

}  // namespace pistachio
