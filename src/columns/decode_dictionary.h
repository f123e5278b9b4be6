// Dictionary columns to plain ones.
#pragma once

#include "data/column.h"

namespace pistachio {

// Decodes a dictionary column; returns other columns unchanged. Text keeps sharing the dictionary's bytes.
Column decode_dictionary(const Column& column);

}  // namespace pistachio
