#include "expr/parse_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "data/calendar.h"
#include "data/decimal_text.h"
#include "expr/cast.h"
#include "expr/interval_text.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return lower;
}

[[noreturn]] void refuse(LogicalType type, std::string_view text) {
  throw UserError(fmt::format("'{}' is not a valid {}", text, type.to_string()));
}

// Words may be abbreviated as long as they are unambiguous.
ScalarValue parse_boolean(std::string_view text) {
  std::string word = lowered(text);
  struct Word {
    std::string_view name;
    size_t shortest;
    int value;
  };
  constexpr Word words[] = {{"true", 1, 1},  {"yes", 1, 1}, {"on", 2, 1},  {"1", 1, 1},
                            {"false", 1, 0}, {"no", 1, 0},  {"off", 2, 0}, {"0", 1, 0}};
  for (const Word& known : words) {
    if (word.size() >= known.shortest && known.name.starts_with(word)) return ScalarValue::of_integer(TypeKind::Boolean, known.value);
  }
  refuse(TypeKind::Boolean, text);
}

// Excess fractional digits are rounded, halves away from zero.
ScalarValue parse_decimal(LogicalType type, std::string_view text) {
  std::optional<DecimalText> number = read_decimal_text(text);
  if (!number) refuse(type, text);
  return ScalarValue::of_integer(type, rounded_decimal(*number, type, text));
}

ScalarValue parse_integer(LogicalType type, std::string_view text) {
  bool digits_only = !text.empty() && std::all_of(text.begin() + (text[0] == '-' || text[0] == '+'), text.end(),
                                                  [](unsigned char letter) { return std::isdigit(letter) != 0; });
  if (!digits_only || text.size() == static_cast<size_t>(text[0] == '-' || text[0] == '+')) refuse(type, text);
  ParsedConstant parsed = parse_constant(type, text);
  if (!parsed.exact) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return parsed.value;
}

// Overflow and underflow are errors, as in PostgreSQL; infinity must be spelled out.
ScalarValue parse_floating(LogicalType type, std::string_view text) {
  std::string word = lowered(text);
  if (word == "infinity" || word == "+infinity") word = "inf";
  if (word == "-infinity") word = "-inf";
  ScalarValue value = parse_constant(type, word).value;
  bool is_infinite = std::isinf(value.floating) && word.find("inf") == std::string::npos;
  bool is_lost = value.floating == 0 && std::min(word.find_first_of("123456789"), word.size()) < std::min(word.find('e'), word.size());
  if (is_infinite || is_lost) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return value;
}

// Rounding of the seconds' digits after the sixth: 0 or 1 microsecond.
int64_t rounding_of_seconds(std::string_view text) {
  size_t point = text.find('.', std::min(text.find(':'), text.size()));
  if (point == std::string_view::npos) return 0;
  double fraction = 0;
  std::string digits = "0" + std::string(text.substr(point));
  std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
  return static_cast<int64_t>(std::rint(fraction * 1e6)) - static_cast<int64_t>(std::stoll((digits.substr(2, 6) + "000000").substr(0, 6)));
}

ScalarValue parse_date_or_clock(LogicalType type, std::string_view text) {
  ParsedConstant parsed = parse_constant(type, text);
  bool is_date = type.kind() == TypeKind::Date;
  // Microseconds are rounded as in PostgreSQL, nanoseconds truncated as in DuckDB.
  bool rounds = !parsed.exact && !is_date && !type.has_nanoseconds();
  if (rounds) parsed.value.integer += rounding_of_seconds(text);
  if (is_time_of_day(type)) return parsed.value;
  bool is_outside = false;
  if (is_date) is_outside = parsed.value.integer < kFirstDay || parsed.value.integer > kLastDay;
  if (!is_date && !type.has_nanoseconds()) is_outside = parsed.value.integer < kFirstMicros;
  if (parsed.above || parsed.below || is_outside) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return parsed.value;
}

}  // namespace

Int128 rounded_decimal(const DecimalText& number, LogicalType type, std::string_view text) {
  const Int128 largest = power_of_ten(type.precision()) - 1;
  CutDecimal cut = cut_decimal(number, type.scale(), largest);
  Int128 magnitude = cut.magnitude + (cut.rounds_up ? 1 : 0);
  if (cut.is_too_large || magnitude > largest) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return number.is_negative ? -magnitude : magnitude;
}

ScalarValue parse_value(LogicalType type, std::string_view text) {
  if (type.is_text()) return parse_constant(type, text).value;
  // Parsing cannot be stopped, and the text would be part of the message.
  constexpr size_t longest = 1 << 20;
  if (text.size() > longest) throw UserError(fmt::format("a text of {} bytes is not a valid {}", text.size(), type.to_string()));
  std::string_view inner = trimmed(text);
  switch (type.kind()) {
    case TypeKind::Boolean: return parse_boolean(inner);
    case TypeKind::TinyInt:
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt: return parse_integer(type, inner);
    case TypeKind::Decimal: return parse_decimal(type, inner);
    case TypeKind::Interval: return parse_interval(text, "");
    case TypeKind::Real:
    case TypeKind::Double: return parse_floating(type, inner);
    case TypeKind::Date:
    case TypeKind::Time:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
    case TypeKind::TimeNs:
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs: return parse_date_or_clock(type, inner);
    default: {
      ParsedConstant parsed = parse_constant(type, inner);
      if (parsed.above || parsed.below) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
      return parsed.value;
    }
  }
}

}  // namespace pistachio
