// A decimal number parsed from text, [sign] digits [. digits] [e exponent], kept as digits so that it is rounded only once, to its type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/scalar_value.h"

namespace pistachio {

// 0.d1d2d3... times 10^point; no leading zeros. Zero has no digits.
struct DecimalText {
  bool is_negative = false;
  std::string digits;
  int64_t point = 0;
};

// Nullopt if the text is not a number. Exponents beyond a million count as a million.
std::optional<DecimalText> read_decimal_text(std::string_view text);

// The magnitude of a number, truncated to `scale` digits after the point.
struct CutDecimal {
  Int128 magnitude = 0;
  bool is_exact = true;       // only zeros were truncated
  bool rounds_up = false;     // the first truncated digit is 5 or more
  bool is_too_large = false;  // above `largest`; the magnitude is then meaningless
};
CutDecimal cut_decimal(const DecimalText& number, int scale, Int128 largest);

}  // namespace pistachio
