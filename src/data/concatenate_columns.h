// Joins columns end to end. Pieces that share one dictionary stay dictionary-coded; other mixtures become plain.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

// `pieces` has at least one column; all are of one type.
Column concatenate_columns(const std::vector<Column>& pieces);

// The same, but text coded with different dictionaries stays coded where that is shorter: the dictionaries are laid end to end. An entry can
// then occur more than once.
Column concatenate_coded(const std::vector<Column>& pieces);

// The plain form of a dictionary-coded column; a plain column as it is. Text keeps sharing the dictionary's bytes.
Column decode_dictionary(const Column& column);

}  // namespace pistachio
