// Values from text as SQL writes them: what CAST('...' AS type) and typed literals accept. Leading and trailing spaces do not count.
#pragma once

#include <string_view>

#include "data/decimal_text.h"
#include "data/scalar_value.h"

namespace pistachio {

// Throws UserError when the text is no value of the type or lies outside its range. Decimals round to their scale.
ScalarValue parse_value(LogicalType type, std::string_view text);

// The number in the scale of a decimal type, halves away from zero. Throws UserError, with `text`, where the type has too few digits.
Int128 rounded_decimal(const DecimalText& number, LogicalType type, std::string_view text);

}  // namespace pistachio
