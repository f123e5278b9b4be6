// Parses SQL values: what CAST('...' AS type) and typed literals accept. Leading and trailing spaces are ignored.
#pragma once

#include <string_view>

#include "data/decimal_text.h"
#include "data/scalar_value.h"

namespace pistachio {

// Throws UserError if the text is not a value of the type or out of its range. Decimals are rounded to their scale.
ScalarValue parse_value(LogicalType type, std::string_view text);

// The number in the scale of a decimal type, halves away from zero. Throws UserError, quoting `text`, if the type has too few digits.
Int128 rounded_decimal(const DecimalText& number, LogicalType type, std::string_view text);

}  // namespace pistachio
