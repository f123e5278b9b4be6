#include "readers/moment_text.h"

#include "data/calendar.h"

namespace pistachio {

namespace {

constexpr bool is_decimal_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

// A cursor that takes numbers and signs from the front of a text.
class MomentCursor {
 public:
  explicit MomentCursor(std::string_view text) : text_(text) {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    while (!text_.empty() && text_.back() == ' ') text_.remove_suffix(1);
  }

  bool is_at_end() const { return at_ == text_.size(); }
  char peek() const { return is_at_end() ? '\0' : text_[at_]; }
  bool take(char sign) {
    if (peek() != sign) return false;
    ++at_;
    return true;
  }
  // A number of `least` to `most` digits.
  std::optional<int64_t> number(size_t least, size_t most) {
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < most && is_decimal_digit(peek()); ++digits) value = value * 10 + (text_[at_++] - '0');
    if (digits < least) return std::nullopt;
    return value;
  }
  // Microseconds of a fraction; further digits are cut.
  std::optional<int64_t> fraction() {
    if (!is_decimal_digit(peek())) return std::nullopt;
    int64_t micros = 0;
    int64_t unit = 100'000;
    for (; is_decimal_digit(peek()); unit /= 10) micros += (text_[at_++] - '0') * unit;
    return micros;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

std::optional<int64_t> take_date(MomentCursor& cursor, DateOrder order) {
  const bool year_first = order == DateOrder::YearFirst;
  const auto first = year_first ? cursor.number(4, 6) : cursor.number(1, 2);
  const char separator = cursor.peek();
  if (!first || (separator != '-' && separator != '/' && separator != '.' && separator != ' ')) return std::nullopt;
  cursor.take(separator);
  const auto second = cursor.number(1, 2);
  if (!second || !cursor.take(separator)) return std::nullopt;
  const auto third = year_first ? cursor.number(1, 2) : cursor.number(4, 4);
  if (!third || is_decimal_digit(cursor.peek())) return std::nullopt;
  const int64_t year = year_first ? *first : *third;
  const int64_t month = order == DateOrder::MonthFirst ? *first : *second;
  const int64_t day = year_first ? *third : order == DateOrder::MonthFirst ? *second : *first;
  if (month < 1 || month > 12 || day < 1 || year < 1 || day > days_in_month(year, month)) return std::nullopt;
  return days_from_civil(year, month, day);
}

std::optional<int64_t> take_time(MomentCursor& cursor) {
  const auto hour = cursor.number(1, 2);
  if (!hour || !cursor.take(':')) return std::nullopt;
  const auto minute = cursor.number(2, 2);
  if (!minute) return std::nullopt;
  int64_t micros = *hour * kHourMicros + *minute * kMinuteMicros;
  if (cursor.take(':')) {
    const auto second = cursor.number(2, 2);
    if (!second || *second > 59) return std::nullopt;
    micros += *second * kSecondMicros;
    if (cursor.take('.')) {
      const auto fraction = cursor.fraction();
      if (!fraction) return std::nullopt;
      micros += *fraction;
    }
  }
  if (*hour > 24 || *minute > 59 || micros > kDayMicros) return std::nullopt;
  return micros;
}

// Microseconds east of UTC.
std::optional<int64_t> take_zone(MomentCursor& cursor) {
  if (cursor.take('Z') || cursor.take('z')) return 0;
  const bool is_west = cursor.peek() == '-';
  if (!cursor.take('+') && !cursor.take('-')) return std::nullopt;
  const auto hours = cursor.number(2, 2);
  if (!hours || *hours > 15) return std::nullopt;
  int64_t micros = *hours * kHourMicros;
  const bool has_colon = cursor.take(':');
  if (const auto minutes = cursor.number(2, 2)) {
    if (*minutes > 59) return std::nullopt;
    micros += *minutes * kMinuteMicros;
  } else if (has_colon) {
    return std::nullopt;
  }
  return is_west ? -micros : micros;
}

}  // namespace

std::optional<int64_t> read_date_text(std::string_view text, DateOrder order) {
  MomentCursor cursor(text);
  const auto days = take_date(cursor, order);
  return days && cursor.is_at_end() ? days : std::nullopt;
}

std::optional<int64_t> read_time_text(std::string_view text) {
  MomentCursor cursor(text);
  const auto micros = take_time(cursor);
  return micros && cursor.is_at_end() ? micros : std::nullopt;
}

std::optional<TimestampText> read_timestamp_text(std::string_view text, DateOrder order) {
  MomentCursor cursor(text);
  const auto days = take_date(cursor, order);
  if (!days || (!cursor.take('T') && !cursor.take(' '))) return std::nullopt;
  const auto time = take_time(cursor);
  if (!time) return std::nullopt;
  // Years of six digits are beyond what microseconds can count.
  int64_t micros = 0;
  if (__builtin_mul_overflow(*days, kDayMicros, &micros) || __builtin_add_overflow(micros, *time, &micros)) return std::nullopt;
  if (cursor.is_at_end()) return TimestampText{micros, false};
  cursor.take(' ');
  const auto zone = take_zone(cursor);
  if (!zone || !cursor.is_at_end()) return std::nullopt;
  if (__builtin_sub_overflow(micros, *zone, &micros)) return std::nullopt;
  return TimestampText{micros, true};
}

}  // namespace pistachio
