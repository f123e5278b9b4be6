// Casts between types, on whole columns. Numbers are checked against the range of their new type, text is parsed. Errors name the value.
#pragma once

#include "base/cancel_token.h"
#include "data/column.h"
#include "data/scalar_value.h"

namespace pistachio {

// Whether CAST(x AS type) exists.
bool can_cast(LogicalType from, LogicalType to);
// Whether the cast can fail for some value.
bool cast_can_raise(LogicalType from, LogicalType to);

// `valid` (bool; undefined: all): rows that count; others raise no errors. Throws UserError, and Cancelled if the token (null: none) is
// cancelled while text is converted.
Column cast_column(const Column& column, LogicalType to, const at::Tensor& valid, const CancelToken* token = nullptr);
ScalarValue cast_value(const ScalarValue& value, LogicalType to);

// 10^exponent; exponent <= 38.
Int128 power_of_ten(int exponent);

}  // namespace pistachio
