// Decimals to binary floating point: the nearest REAL or DOUBLE. Back: the digits that the number is printed with, rounded.
#pragma once

#include "data/column.h"
#include "data/scalar_value.h"

namespace pistachio {

// An integer or decimal column as REAL or DOUBLE values, on the column's device.
at::Tensor exact_to_floating(const Column& column, LogicalType to);

// Rounded to the decimal's scale, halves away from zero. `valid` (bool; undefined: all): rows that count; others raise no errors.
Column floating_to_decimal(const Column& column, LogicalType to, const at::Tensor& valid);

}  // namespace pistachio
