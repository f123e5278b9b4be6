#include "data/scalar_value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "data/calendar.h"
#include "data/decimal_text.h"
#include "data/value_text.h"

namespace pistachio {

namespace {

[[noreturn]] void refuse(LogicalType type, std::string_view text) {
  throw UserError(fmt::format("'{}' is not a valid {}", text, type.to_string()));
}

std::optional<int64_t> read_number(std::string_view& text, size_t most_digits) {
  size_t digits = 0;
  int64_t value = 0;
  while (digits < text.size() && digits < most_digits && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool read_character(std::string_view& text, char wanted) {
  if (text.empty() || text[0] != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> read_date(std::string_view& text, bool before_christ) {
  size_t length = text.size();
  std::optional<int64_t> year = read_number(text, 7);
  // PostgreSQL reads 1-2-03 as month, day and year of this century.
  bool is_short = length - text.size() < 3;
  if (!year || is_short || !read_character(text, '-')) return std::nullopt;
  std::optional<int64_t> month = read_number(text, 2);
  if (!month || !read_character(text, '-')) return std::nullopt;
  std::optional<int64_t> day = read_number(text, 2);
  if (!day || *month < 1 || *month > 12 || *day < 1 || *year < 1) return std::nullopt;
  if (before_christ) year = 1 - *year;
  if (*day > days_in_month(*year, *month)) return std::nullopt;
  return days_from_civil(*year, *month, *day);
}

// Offset from UTC in nanoseconds. Accepts an empty zone, Z, +hh, -hh:mm, +hhmm, +hmm.
std::optional<int64_t> read_zone_offset(std::string_view& text) {
  while (read_character(text, ' ')) {
  }
  if (text.empty() || read_character(text, 'Z') || read_character(text, 'z')) return 0;
  bool is_behind = read_character(text, '-');
  if (!is_behind && !read_character(text, '+')) return std::nullopt;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::optional<int64_t> hours = read_number(text, digits == 3 ? 1 : 2);
  int64_t minutes = 0;
  if (!hours || *hours > 15) return std::nullopt;
  if (read_character(text, ':') || !text.empty()) {
    std::optional<int64_t> read = read_number(text, 2);
    if (!read || *read > 59) return std::nullopt;
    minutes = *read;
  }
  int64_t offset = (*hours * 60 + minutes) * kMinuteNanos;
  return is_behind ? -offset : offset;
}

// Nanoseconds since midnight; clears `exact` if further digits were truncated.
std::optional<int64_t> read_time(std::string_view& text, bool& exact) {
  std::optional<int64_t> hour = read_number(text, 2);
  if (!hour || *hour > 24 || !read_character(text, ':')) return std::nullopt;
  std::optional<int64_t> minute = read_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int64_t second = 0;
  int64_t nanos = 0;
  if (read_character(text, ':')) {
    std::optional<int64_t> seconds = read_number(text, 2);
    if (!seconds || *seconds > 60) return std::nullopt;  // 60 is the next minute
    second = *seconds;
    if (read_character(text, '.')) {
      int64_t unit = kSecondNanos / 10;
      while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
        if (unit == 0 && text[0] != '0') exact = false;
        nanos += (text[0] - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
      }
    }
  }
  int64_t total = (*hour * 60 + *minute) * kMinuteNanos + second * kSecondNanos + nanos;
  if (total > kDayNanos) return std::nullopt;
  return total;
}

// In the unit of the type. A value between two units is rounded down and not exact.
void set_nanoseconds(ParsedConstant& parsed, Int128 nanos) {
  if (parsed.value.type.has_nanoseconds()) {
    parsed.value.integer = nanos;
    return;
  }
  Int128 rest = nanos % kMicroNanos;
  parsed.value.integer = nanos / kMicroNanos - (rest < 0 ? 1 : 0);
  parsed.exact = parsed.exact && rest == 0;
}

ParsedConstant parse_date_or_time(LogicalType type, std::string_view text) {
  std::string_view rest = text;
  ParsedConstant parsed{ScalarValue::of_integer(type, 0)};
  if (type.kind() == TypeKind::Time || type.kind() == TypeKind::TimeNs) {
    std::optional<int64_t> nanos = read_time(rest, parsed.exact);
    if (!nanos || !read_zone_offset(rest) || !rest.empty()) refuse(type, text);
    set_nanoseconds(parsed, *nanos);
    return parsed;
  }
  bool before_christ = rest.ends_with(" BC") || rest.ends_with(" bc");
  if (before_christ) rest.remove_suffix(3);
  std::optional<int64_t> days = read_date(rest, before_christ);
  if (!days) refuse(type, text);
  int64_t nanos = 0;
  if (!rest.empty()) {
    if (!read_character(rest, ' ') && !read_character(rest, 'T') && !read_character(rest, 't')) refuse(type, text);
    std::optional<int64_t> time = read_time(rest, parsed.exact);
    if (!time) refuse(type, text);
    nanos = *time;
    std::optional<int64_t> offset = read_zone_offset(rest);
    if (!offset) refuse(type, text);
    bool has_zone = type.kind() == TypeKind::TimestampTz || type.kind() == TypeKind::TimestampTzNs;
    if (has_zone) nanos -= *offset;
    if (!rest.empty()) refuse(type, text);
  }
  if (type.kind() == TypeKind::Date) {
    parsed.exact = parsed.exact && nanos == 0;
    parsed.value.integer = *days;  // also at 24:00, as in PostgreSQL
  } else {
    set_nanoseconds(parsed, Int128{*days} * kDayNanos + nanos);
  }
  const Int128 highest = type.kind() == TypeKind::Date ? Int128{std::numeric_limits<int32_t>::max()} : std::numeric_limits<int64_t>::max();
  parsed.above = parsed.value.integer > highest;
  parsed.below = parsed.value.integer < -highest - 1;
  if (parsed.above) parsed.value.integer = highest;
  if (parsed.below) parsed.value.integer = -highest - 1;
  return parsed;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

// The bytes of the text, except that \\ is one backslash and \123 a byte in octal.
std::string parse_escaped_bytes(LogicalType type, std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes += text[++i];
    } else {
      int value = 0;
      for (size_t digit = i + 1; digit <= i + 3; ++digit) {
        if (digit >= text.size() || text[digit] < '0' || text[digit] > '7') refuse(type, text);
        value = value * 8 + (text[digit] - '0');
      }
      if (value > 255) refuse(type, text);
      bytes += static_cast<char>(value);
      i += 3;
    }
  }
  return bytes;
}

// Both forms of PostgreSQL's bytea: \x and two hex digits per byte, as bytes are printed, or text with escapes.
std::string parse_bytes(LogicalType type, std::string_view text) {
  if (!text.starts_with("\\x")) return parse_escaped_bytes(type, text);
  if (text.size() % 2 != 0) refuse(type, text);
  std::string bytes;
  for (size_t i = 2; i < text.size(); i += 2) {
    int high = hex_digit(text[i]);
    int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) refuse(type, text);
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

Int128 largest_of(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::TinyInt: return 127;
    case TypeKind::SmallInt: return 32767;
    case TypeKind::Integer: return std::numeric_limits<int32_t>::max();
    case TypeKind::Decimal: {
      Int128 power = 1;
      for (int digit = 0; digit < type.precision(); ++digit) power *= 10;
      return power - 1;
    }
    default: return std::numeric_limits<int64_t>::max();
  }
}

// Integers and decimals: [sign] digits [. digits] [e exponent], exactly.
ParsedConstant parse_exact_number(LogicalType type, std::string_view text) {
  std::optional<DecimalText> number = read_decimal_text(text);
  if (!number) refuse(type, text);
  int scale = type.kind() == TypeKind::Decimal ? type.scale() : 0;
  Int128 largest = largest_of(type);
  Int128 lowest = type.kind() == TypeKind::Decimal ? -largest : -largest - 1;
  CutDecimal cut = cut_decimal(*number, scale, number->is_negative ? -lowest : largest);
  ParsedConstant parsed{ScalarValue::of_integer(type, 0), cut.is_exact};
  Int128 value = number->is_negative ? -cut.magnitude - (cut.is_exact ? 0 : 1) : cut.magnitude;  // the next lower value
  if (cut.is_too_large || value < lowest) {
    (number->is_negative ? parsed.below : parsed.above) = true;
    parsed.exact = false;
    value = number->is_negative ? lowest : largest;
  }
  parsed.value.integer = value;
  return parsed;
}

// Of a decimal number: [-] digits [. digits] [e exponent].
bool is_below_one(std::string_view text) {
  size_t exponent_begin = std::min(text.find_first_of("eE"), text.size());
  std::string_view digits = text.substr(0, exponent_begin);
  size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  // Position of the first digit relative to the point: 0 for the digit before it.
  size_t point = std::min(digits.find('.'), digits.size());
  int64_t place = first < point ? static_cast<int64_t>(point - first) - 1 : -static_cast<int64_t>(first - point);
  if (exponent_begin == text.size()) return place < 0;
  std::string_view exponent = text.substr(exponent_begin + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t power = 0;
  auto [end, status] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (status == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power < -place;
}

// The nearest value of the type: REAL is not rounded to DOUBLE first. Infinity and 0 for numbers out of its range.
template <typename Number>
ScalarValue nearest_floating(LogicalType type, std::string_view text) {
  Number value = 0;
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (text.starts_with("+-")) refuse(type, text);
  auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool is_out_of_range = status == std::errc::result_out_of_range;
  if ((status != std::errc() && !is_out_of_range) || end != digits.data() + digits.size()) refuse(type, text);
  if (!is_out_of_range) return ScalarValue::of_floating(type, value);
  return ScalarValue::of_floating(type, std::copysign(is_below_one(digits) ? 0.0 : HUGE_VAL, digits[0] == '-' ? -1.0 : 1.0));
}

ParsedConstant parse_floating(LogicalType type, std::string_view text) {
  if (type.kind() == TypeKind::Real) return {nearest_floating<float>(type, text)};
  return {nearest_floating<double>(type, text)};
}

}  // namespace

ScalarValue ScalarValue::null(LogicalType type) {
  ScalarValue value{type};
  value.is_null = true;
  return value;
}

ScalarValue ScalarValue::of_integer(LogicalType type, Int128 integer) {
  ScalarValue value{type};
  value.integer = integer;
  return value;
}

ScalarValue ScalarValue::of_floating(LogicalType type, double floating) {
  ScalarValue value{type};
  value.floating = floating;
  return value;
}

ScalarValue ScalarValue::of_text(LogicalType type, std::string text) {
  ScalarValue value{type};
  value.text = std::move(text);
  return value;
}

std::string format_scaled_integer(Int128 value, int scale) {
  std::string text;
  append_scaled_integer(text, value, scale);
  return text;
}

std::string ScalarValue::to_string() const {
  if (is_null) return "NULL";
  std::string shown;
  int64_t small = static_cast<int64_t>(integer);
  switch (type.kind()) {
    case TypeKind::Boolean: return integer != 0 ? "true" : "false";
    case TypeKind::Real: append_real(shown, static_cast<float>(floating)); break;
    case TypeKind::Double: append_double(shown, floating); break;
    case TypeKind::Decimal: append_scaled_integer(shown, integer, type.scale()); break;
    case TypeKind::Date: append_date(shown, small); break;
    case TypeKind::Time: append_time(shown, small); break;
    case TypeKind::Timestamp: append_timestamp(shown, small, ""); break;
    case TypeKind::TimestampTz: append_timestamp(shown, small, "+00"); break;
    case TypeKind::TimeNs: append_time_ns(shown, small); break;
    case TypeKind::TimestampNs: append_timestamp_ns(shown, small, ""); break;
    case TypeKind::TimestampTzNs: append_timestamp_ns(shown, small, "+00"); break;
    case TypeKind::Interval: append_interval(shown, integer); break;
    case TypeKind::Varchar: return text;
    case TypeKind::Blob: append_bytes(shown, text); break;
    default: append_scaled_integer(shown, integer, 0); break;
  }
  return shown;
}

std::strong_ordering compare(const ScalarValue& left, const ScalarValue& right) {
  ENSURE(!left.is_null && !right.is_null && left.type == right.type);
  if (left.is_text()) return left.text.compare(right.text) <=> 0;
  if (!left.type.is_floating())
    return left.integer < right.integer   ? std::strong_ordering::less
           : left.integer > right.integer ? std::strong_ordering::greater
                                          : std::strong_ordering::equal;
  bool left_nan = std::isnan(left.floating);
  bool right_nan = std::isnan(right.floating);
  if (left_nan || right_nan) return static_cast<int>(left_nan) <=> static_cast<int>(right_nan);
  return left.floating < right.floating   ? std::strong_ordering::less
         : left.floating > right.floating ? std::strong_ordering::greater
                                          : std::strong_ordering::equal;
}

ParsedConstant parse_constant(LogicalType type, std::string_view text) {
  switch (type.kind()) {
    case TypeKind::Boolean:
      if (text == "true" || text == "t") return {ScalarValue::of_integer(type, 1)};
      if (text == "false" || text == "f") return {ScalarValue::of_integer(type, 0)};
      refuse(type, text);
    case TypeKind::Varchar: return {ScalarValue::of_text(type, std::string(text))};
    case TypeKind::Blob: return {ScalarValue::of_text(type, parse_bytes(type, text))};
    case TypeKind::Real:
    case TypeKind::Double: return parse_floating(type, text);
    case TypeKind::Date:
    case TypeKind::Time:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
    case TypeKind::TimeNs:
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs: return parse_date_or_time(type, text);
    case TypeKind::Interval: throw UserError("INTERVAL columns cannot be compared with a constant");
    default: return parse_exact_number(type, text);
  }
}

}  // namespace pistachio
