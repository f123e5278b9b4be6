#include "data/value_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "data/calendar.h"

namespace pistachio {

namespace {

using UnsignedInt128 = unsigned __int128;

// Writes the digits of a number of up to 128 bits at the end of `buffer`, padded to at least `least` digits.
constexpr size_t kMaxDigits = 40;

std::string_view write_digits(char (&buffer)[kMaxDigits], UnsignedInt128 value, int least) {
  char* end = buffer + kMaxDigits;
  char* at = end;
  // 128-bit arithmetic is slow: use it only as long as necessary.
  while (value > std::numeric_limits<uint64_t>::max()) {
    *--at = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  }
  for (auto rest = static_cast<uint64_t>(value); rest != 0; rest /= 10) *--at = static_cast<char>('0' + rest % 10);
  while (end - at < least) *--at = '0';
  return {at, static_cast<size_t>(end - at)};
}

void append_two_digits(std::string& text, int value) {
  const char digits[] = {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
  text.append(digits, 2);
}

// There is no year 0: the year before 1 is 1 BC.
void append_civil(std::string& text, const CivilDate& date) {
  char buffer[kMaxDigits];
  text += write_digits(buffer, static_cast<UnsignedInt128>(date.year < 1 ? 1 - date.year : date.year), 4);
  text += '-';
  append_two_digits(text, date.month);
  text += '-';
  append_two_digits(text, date.day);
}

std::string_view era_of(const CivilDate& date) {
  return date.year < 1 ? " BC" : "";
}

// `units` of 10^-digits seconds since midnight. Hours may have any number of digits, since intervals do.
template <int digits>
void append_clock(std::string& text, uint64_t units) {
  constexpr uint64_t second = digits == 9 ? kSecondNanos : kSecondMicros;
  uint64_t seconds = units / second;
  char buffer[kMaxDigits];
  text += write_digits(buffer, seconds / 3600, 2);
  text += ':';
  append_two_digits(text, static_cast<int>(seconds / 60 % 60));
  text += ':';
  append_two_digits(text, static_cast<int>(seconds % 60));
  uint64_t fraction = units % second;
  if (fraction == 0) return;
  std::string_view shown = write_digits(buffer, fraction, digits);
  (text += '.') += shown.substr(0, shown.find_last_not_of('0') + 1);
}

template <int digits>
void append_moment(std::string& text, int64_t units, std::string_view zone) {
  constexpr int64_t day = digits == 9 ? kDayNanos : kDayMicros;
  CivilDate date = civil_from_days(floor_divide(units, day));
  append_civil(text, date);
  text += ' ';
  append_clock<digits>(text, static_cast<uint64_t>(floor_modulo(units, day)));
  text += zone;
  text += era_of(date);
}

template <typename Number>
void append_formatted(std::string& text, Number value) {
  char buffer[64];
  text.append(buffer, static_cast<size_t>(fmt::format_to(buffer, "{}", value) - buffer));
}

}  // namespace

void append_integer(std::string& text, int64_t value) {
  fmt::format_int digits(value);
  text.append(digits.data(), digits.size());
}

void append_scaled_integer(std::string& text, Int128 value, int scale) {
  char buffer[kMaxDigits];
  UnsignedInt128 magnitude = value < 0 ? -static_cast<UnsignedInt128>(value) : static_cast<UnsignedInt128>(value);
  std::string_view digits = write_digits(buffer, magnitude, scale + 1);
  if (value < 0) text += '-';
  size_t whole = digits.size() - static_cast<size_t>(scale);
  text += digits.substr(0, whole);
  if (scale > 0) (text += '.') += digits.substr(whole);
}

// The sign of NaN is meaningless.
void append_real(std::string& text, float value) {
  append_formatted(text, std::isnan(value) ? std::abs(value) : value);
}

void append_double(std::string& text, double value) {
  append_formatted(text, std::isnan(value) ? std::abs(value) : value);
}

void append_date(std::string& text, int64_t days) {
  CivilDate date = civil_from_days(days);
  append_civil(text, date);
  text += era_of(date);
}

void append_time(std::string& text, int64_t micros) {
  append_clock<6>(text, static_cast<uint64_t>(micros));
}

void append_time_ns(std::string& text, int64_t nanos) {
  append_clock<9>(text, static_cast<uint64_t>(nanos));
}

void append_timestamp(std::string& text, int64_t micros, std::string_view zone) {
  append_moment<6>(text, micros, zone);
}

void append_timestamp_ns(std::string& text, int64_t nanos, std::string_view zone) {
  append_moment<9>(text, nanos, zone);
}

void append_interval(std::string& text, Int128 packed) {
  // As PostgreSQL prints it.
  int64_t micros = static_cast<int64_t>(packed);
  int64_t high = static_cast<int64_t>(packed >> 64);
  int64_t months = high >> 32;
  int64_t days = static_cast<int32_t>(high);
  bool is_first = true;
  bool is_behind_negative = false;  // then positive fields need a sign
  auto separate = [&](bool is_negative) {
    if (!is_first) text += ' ';
    if (is_behind_negative && !is_negative) text += '+';
    is_first = false;
    is_behind_negative = is_negative;
  };
  auto add = [&](int64_t amount, std::string_view unit) {
    if (amount == 0) return;
    separate(amount < 0);
    append_integer(text, amount);
    (text += ' ') += unit;
    if (amount != 1) text += 's';
  };
  add(months / 12, "year");
  add(months % 12, "mon");
  add(days, "day");
  if (micros == 0 && !is_first) return;
  separate(micros < 0);
  if (micros < 0) text += '-';
  append_clock<6>(text, micros < 0 ? -static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros));
}

void append_bytes(std::string& text, std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  text += "\\x";
  for (unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
}

}  // namespace pistachio
