// Converts between columns and single values, for constants and results; too slow for data paths.
#pragma once

#include <vector>

#include "data/column.h"
#include "data/scalar_value.h"

namespace pistachio {

// A column of `rows` copies of a value. Text is stored once.
Column repeat_value(const ScalarValue& value, int64_t rows, at::Device device = at::kCPU);
ScalarValue value_at(const Column& column, int64_t row);

// The values as a column.
Column column_of_values(LogicalType type, const std::vector<ScalarValue>& values);

}  // namespace pistachio
