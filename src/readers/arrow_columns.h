// Arrow's types and arrays as ours. Values are copied, so that a column does not keep its record batch. Pure functions.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "data/column.h"

namespace arrow {
class Array;
class DataType;
}  // namespace arrow

namespace pistachio {

// The type that a column of an Arrow file is read as; nullopt if it cannot be read (lists, structs, maps, unions).
std::optional<LogicalType> type_of_arrow(const arrow::DataType& type);

// `type` is type_of_arrow() of the array's type, or a wider one of the same kind. Throws UserError for values that it cannot hold.
Column column_of_arrow(const arrow::Array& array, LogicalType type);

}  // namespace pistachio
