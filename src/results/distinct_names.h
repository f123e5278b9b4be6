// Unique column names for formats whose readers look up columns by name: Parquet, Arrow and JSON. A result may repeat a name.
#pragma once

#include <string>
#include <vector>

#include "engine/result_receiver.h"

namespace pistachio {

// The names in order, all distinct: the second `sum` becomes `sum_1`, or the first of `sum_2`, `sum_3`, ... that is free.
std::vector<std::string> distinct_names(const std::vector<ResultColumn>& columns);

}  // namespace pistachio
