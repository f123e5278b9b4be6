// A decimal number as text writes it: [sign] digits [. digits] [e exponent], held digit by digit so that it is rounded once, to its type.
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

// Nothing if the text is no number. Exponents beyond a million count as a million.
std::optional<DecimalText> read_decimal_text(std::string_view text);

// A number without its sign, cut to `scale` digits behind the point.
struct CutDecimal {
  Int128 magnitude = 0;
  bool is_exact = true;       // only zeros were cut
  bool rounds_up = false;     // the first digit cut is 5 or more
  bool is_too_large = false;  // above `largest`; the magnitude means nothing then
};
CutDecimal cut_decimal(const DecimalText& number, int scale, Int128 largest);

}  // namespace pistachio
