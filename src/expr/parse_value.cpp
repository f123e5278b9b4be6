#include "expr/parse_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "expr/cast.h"

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
  throw UserError(fmt::format("'{}' is no {}", text, type.to_string()));
}

ScalarValue parse_boolean(std::string_view text) {
  std::string word = lowered(text);
  for (std::string_view yes : {"true", "t", "yes", "y", "on", "1"}) {
    if (word == yes) return ScalarValue::of_integer(TypeKind::Boolean, 1);
  }
  for (std::string_view no : {"false", "f", "no", "n", "off", "0"}) {
    if (word == no) return ScalarValue::of_integer(TypeKind::Boolean, 0);
  }
  refuse(TypeKind::Boolean, text);
}

// A decimal with more digits than the type has is rounded, halves away from zero.
ScalarValue parse_decimal(LogicalType type, std::string_view text) {
  ParsedConstant exact = parse_constant(type, text);
  if (exact.above || exact.below) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  if (exact.exact) return exact.value;
  if (type.scale() == type.precision() || type.precision() == 38) {
    // One digit more does not fit the type: look at the next digit of the text itself.
    size_t point = text.find('.');
    size_t next = point == std::string_view::npos ? text.size() : point + 1 + static_cast<size_t>(type.scale());
    bool negative = text.starts_with('-');
    bool up = next < text.size() && text[next] >= '5';
    Int128 value = exact.value.integer + (negative ? 1 : 0);  // toward zero
    return ScalarValue::of_integer(type, value + (up ? (negative ? -1 : 1) : 0));
  }
  ParsedConstant finer = parse_constant(LogicalType::decimal(std::min(38, type.precision() + 1), type.scale() + 1), text);
  Int128 value = finer.value.integer;
  bool negative = text.starts_with('-');
  if (negative && !finer.exact) value += 1;  // the parser gives the lower neighbour: back toward zero
  Int128 rounded = (negative ? value - 5 : value + 5) / 10;
  if (rounded > power_of_ten(type.precision()) - 1 || rounded < -(power_of_ten(type.precision()) - 1))
    throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return ScalarValue::of_integer(type, rounded);
}

ScalarValue parse_integer(LogicalType type, std::string_view text) {
  bool digits_only = !text.empty() && std::all_of(text.begin() + (text[0] == '-' || text[0] == '+'), text.end(),
                                                  [](unsigned char letter) { return std::isdigit(letter) != 0; });
  if (!digits_only || text.size() == static_cast<size_t>(text[0] == '-' || text[0] == '+')) refuse(type, text);
  ParsedConstant parsed = parse_constant(type, text);
  if (!parsed.exact) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
  return parsed.value;
}

// A number that no value of the type comes near to is refused, as in PostgreSQL; infinity has words of its own.
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

struct IntervalUnit {
  std::string_view name;
  int64_t months;
  int64_t days;
  int64_t micros;
};

constexpr int64_t kSecond = 1'000'000;
constexpr IntervalUnit kUnits[] = {{"microsecond", 0, 0, 1},
                                   {"us", 0, 0, 1},
                                   {"millisecond", 0, 0, 1'000},
                                   {"ms", 0, 0, 1'000},
                                   {"second", 0, 0, kSecond},
                                   {"sec", 0, 0, kSecond},
                                   {"s", 0, 0, kSecond},
                                   {"minute", 0, 0, 60 * kSecond},
                                   {"min", 0, 0, 60 * kSecond},
                                   {"m", 0, 0, 60 * kSecond},
                                   {"hour", 0, 0, 3'600 * kSecond},
                                   {"hr", 0, 0, 3'600 * kSecond},
                                   {"h", 0, 0, 3'600 * kSecond},
                                   {"day", 0, 1, 0},
                                   {"d", 0, 1, 0},
                                   {"week", 0, 7, 0},
                                   {"w", 0, 7, 0},
                                   {"month", 1, 0, 0},
                                   {"mon", 1, 0, 0},
                                   {"quarter", 3, 0, 0},
                                   {"year", 12, 0, 0},
                                   {"yr", 12, 0, 0},
                                   {"y", 12, 0, 0},
                                   {"decade", 120, 0, 0},
                                   {"century", 1'200, 0, 0},
                                   {"centurie", 1'200, 0, 0},
                                   {"millennium", 12'000, 0, 0}};

const IntervalUnit* find_unit(std::string_view word) {
  for (std::string_view name : {word, word.ends_with('s') && word.size() > 1 ? word.substr(0, word.size() - 1) : word}) {
    for (const IntervalUnit& unit : kUnits) {
      if (unit.name == name) return &unit;
    }
  }
  return nullptr;
}

class IntervalReader {
 public:
  IntervalReader(std::string_view text, std::string_view fields) : whole_(text), text_(lowered(trimmed(text))), fields_(fields) {}

  ScalarValue read() {
    if (text_.empty()) refuse(TypeKind::Interval, whole_);
    while (at_ < text_.size()) read_part();
    if (ago_) {
      months_ = -months_;
      days_ = -days_;
      micros_ = -micros_;
    }
    return make_interval(months_, days_, micros_);
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  double read_amount() {
    double amount = 0;
    size_t begin = at_ + (text_[at_] == '+');
    auto [end, status] = std::from_chars(text_.data() + begin, text_.data() + text_.size(), amount, std::chars_format::fixed);
    if (status != std::errc()) refuse(TypeKind::Interval, whole_);
    at_ = static_cast<size_t>(end - text_.data());
    return amount;
  }

  std::string read_word() {
    skip_spaces();
    size_t begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void add(double amount, const IntervalUnit& unit) {
    double whole = std::trunc(amount);
    double fraction = amount - whole;
    if (std::abs(amount) > 1e12) throw UserError(fmt::format("'{}' is out of range for INTERVAL", whole_));
    months_ += static_cast<int64_t>(whole) * unit.months;
    if (unit.months > 1) months_ += static_cast<int64_t>(std::round(fraction * static_cast<double>(unit.months)));
    days_ += static_cast<int64_t>(whole) * unit.days;
    // A part of a month is so many days of 30, a part of a day so many hours.
    double part_days = fraction * static_cast<double>(unit.months == 1 ? 30 : unit.days);
    int64_t part_micros = static_cast<int64_t>(std::round(part_days * 86'400e6));
    days_ += part_micros / (86'400 * kSecond);
    micros_ += part_micros % (86'400 * kSecond);
    if (unit.micros > 0) micros_ += static_cast<int64_t>(std::round(amount * static_cast<double>(unit.micros)));
  }

  // h:m[:s]; m:s where the fields behind the literal say so
  void read_clock(double hours) {
    bool negative = std::signbit(hours);
    double minutes = 0;
    double seconds = 0;
    ++at_;
    if (at_ >= text_.size()) refuse(TypeKind::Interval, whole_);
    minutes = read_amount();
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      if (at_ >= text_.size()) refuse(TypeKind::Interval, whole_);
      seconds = read_amount();
    } else if (fields_.starts_with("minute")) {
      seconds = minutes;
      minutes = std::abs(hours);
      hours = 0;
    }
    double total = (std::abs(hours) * 3600 + minutes * 60 + seconds) * 1e6;
    micros_ += static_cast<int64_t>(std::round(negative ? -total : total));
  }

  void read_part() {
    skip_spaces();
    if (at_ >= text_.size()) return;
    if (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) {
      if (read_word() != "ago") refuse(TypeKind::Interval, whole_);
      ago_ = true;
      return;
    }
    double amount = read_amount();
    if (at_ < text_.size() && text_[at_] == ':') return read_clock(amount);
    if (at_ < text_.size() && text_[at_] == '-') {  // years-months
      ++at_;
      if (at_ >= text_.size()) refuse(TypeKind::Interval, whole_);
      double months = read_amount();
      add(amount, *find_unit("year"));
      add(std::signbit(amount) ? -months : months, *find_unit("month"));
      return;
    }
    std::string word = read_word();
    // A number alone takes the last field behind the literal, or seconds; before a clock or another number it counts days.
    skip_spaces();
    if (word.empty() && at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) == 0) word = "day";
    if (word.empty()) word = fields_.empty() ? "second" : std::string(fields_.substr(fields_.rfind(' ') + 1));
    const IntervalUnit* unit = find_unit(word);
    if (unit == nullptr) refuse(TypeKind::Interval, whole_);
    add(amount, *unit);
  }

  std::string_view whole_;
  std::string text_;
  std::string_view fields_;
  size_t at_ = 0;
  int64_t months_ = 0;
  int64_t days_ = 0;
  int64_t micros_ = 0;
  bool ago_ = false;
};

}  // namespace

ScalarValue make_interval(int64_t months, int64_t days, int64_t micros) {
  if (months > INT32_MAX || months < INT32_MIN || days > INT32_MAX || days < INT32_MIN) throw UserError("interval out of range");
  int64_t high = static_cast<int64_t>((static_cast<uint64_t>(months) << 32) | static_cast<uint32_t>(days));
  return ScalarValue::of_integer(TypeKind::Interval, (Int128{high} << 64) | static_cast<Int128>(static_cast<uint64_t>(micros)));
}

IntervalParts interval_parts(const ScalarValue& interval) {
  int64_t high = static_cast<int64_t>(interval.integer >> 64);
  return {high >> 32, static_cast<int32_t>(high), static_cast<int64_t>(interval.integer)};
}

ScalarValue parse_interval(std::string_view text, std::string_view fields) {
  return IntervalReader(text, fields).read();
}

ScalarValue parse_value(LogicalType type, std::string_view text) {
  if (type.is_text()) return parse_constant(type, text).value;
  std::string_view inner = trimmed(text);
  switch (type.kind()) {
    case TypeKind::Boolean: return parse_boolean(inner);
    case TypeKind::TinyInt:
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt: return parse_integer(type, inner);
    case TypeKind::Decimal: return parse_decimal(type, inner);
    case TypeKind::Interval: return parse_interval(inner, "");
    case TypeKind::Real:
    case TypeKind::Double: return parse_floating(type, inner);
    default: {
      ParsedConstant parsed = parse_constant(type, inner);
      if (parsed.above || parsed.below) throw UserError(fmt::format("'{}' is out of range for {}", text, type.to_string()));
      return parsed.value;
    }
  }
}

}  // namespace pistachio
