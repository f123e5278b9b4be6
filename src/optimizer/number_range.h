// The values of exact number types, for rules that prove that results stay inside a type.
#pragma once

#include "data/logical_type.h"
#include "data/scalar_value.h"

namespace pistachio {

// Of integers, and of decimals in units of their last digit.
struct NumberRange {
  Int128 least = 0;
  Int128 greatest = 0;
};

// Of an integer or decimal type.
NumberRange range_of_type(LogicalType type);
// 0 for integers.
int scale_of_number(LogicalType type);

}  // namespace pistachio
