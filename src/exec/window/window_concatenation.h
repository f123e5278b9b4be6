// string_agg: the texts of each partition in the order of the window, with separators. The result is at the first place of a partition and
// NULL at the others.
#pragma once

#include "exec/window/ordered_window.h"

namespace pistachio {

// Arguments: the value and the separator that precedes it. By place. On the host, whatever the device of the rows is.
Column concatenate_partitions(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window);

}  // namespace pistachio
