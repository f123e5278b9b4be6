#include "data/decimal_text.h"

#include <algorithm>

namespace pistachio {

namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool skip(std::string_view& text, char wanted) {
  if (text.empty() || text[0] != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> read_exponent(std::string_view& text) {
  constexpr int64_t most = 1'000'000;
  bool is_down = skip(text, '-');
  if (!is_down) skip(text, '+');
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  int64_t exponent = 0;
  while (!text.empty() && is_digit(text[0])) {
    exponent = std::min(most, exponent * 10 + (text[0] - '0'));
    text.remove_prefix(1);
  }
  return is_down ? -exponent : exponent;
}

}  // namespace

std::optional<DecimalText> read_decimal_text(std::string_view text) {
  DecimalText number;
  number.is_negative = skip(text, '-');
  if (!number.is_negative) skip(text, '+');
  bool is_behind_point = false;
  bool has_digit = false;
  while (!text.empty() && (is_digit(text[0]) || (text[0] == '.' && !is_behind_point))) {
    if (text[0] == '.') {
      is_behind_point = true;
    } else {
      has_digit = true;
      bool is_leading_zero = text[0] == '0' && number.digits.empty();
      if (!is_leading_zero) number.digits += text[0];
      if (is_behind_point == is_leading_zero) number.point += is_behind_point ? -1 : 1;
    }
    text.remove_prefix(1);
  }
  if (!has_digit) return std::nullopt;
  if (skip(text, 'e') || skip(text, 'E')) {
    std::optional<int64_t> exponent = read_exponent(text);
    if (!exponent) return std::nullopt;
    number.point += *exponent;
  }
  if (!text.empty()) return std::nullopt;
  if (number.digits.empty()) number.point = 0;
  return number;
}

CutDecimal cut_decimal(const DecimalText& number, int scale, Int128 largest) {
  CutDecimal result;
  int64_t taken = number.digits.empty() ? 0 : std::max<int64_t>(0, number.point + scale);
  for (int64_t position = 0; position < taken; ++position) {
    int digit = position < static_cast<int64_t>(number.digits.size()) ? number.digits[static_cast<size_t>(position)] - '0' : 0;
    // Checked beforehand, since ten times a decimal of 38 digits overflows 128 bits.
    if (result.magnitude > (largest - digit) / 10) {
      result.is_too_large = true;
      return result;
    }
    result.magnitude = result.magnitude * 10 + digit;
  }
  auto rest = std::string_view(number.digits).substr(std::min(static_cast<size_t>(taken), number.digits.size()));
  result.is_exact = rest.find_first_not_of('0') == std::string_view::npos;
  result.rounds_up = number.point + scale >= 0 && !rest.empty() && rest[0] >= '5';
  return result;
}

}  // namespace pistachio
