// Column names for formats whose readers find columns by name: Parquet, Arrow and JSON. A result may have two columns of one name.
#pragma once

#include <string>
#include <vector>

#include "session/session.h"

namespace pistachio {

// The names in their order, all different: the second `sum` is `sum_1`, or the first of `sum_2`, `sum_3`, ... that no column has.
std::vector<std::string> distinct_names(const std::vector<ResultColumn>& columns);

}  // namespace pistachio
