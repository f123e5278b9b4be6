// Copies a column out of the buffers that it shares with others, so that retaining it does not keep them alive.
#pragma once

#include "data/column.h"

namespace pistachio {

// A column that shares nothing with a scan's buffers, except dictionaries that have no more entries than it has rows.
Column own_column(const Column& column);

}  // namespace pistachio
