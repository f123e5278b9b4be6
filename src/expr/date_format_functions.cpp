// Dates and times to and from text by a format: strftime and strptime with C's % specifiers, to_date and to_timestamp with PostgreSQL's
// patterns. Also intervals from numbers, and epochs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/calendar.h"
#include "expr/argument_access.h"
#include "expr/calendar_names.h"
#include "expr/function_families.h"
#include "expr/interval_value.h"
#include "expr/text_builder.h"

namespace pistachio {

namespace {

// A % specifier by its letter, or literal text.
struct FormatPart {
  char specifier = 0;    // 0: literal
  bool is_bare = false;  // %-d: without leading zeros
  std::string literal;
};

void add_literal(std::vector<FormatPart>& parts, char c) {
  if (parts.empty() || parts.back().specifier != 0) parts.emplace_back();
  parts.back().literal += c;
}

std::vector<FormatPart> parse_percent_format(std::string_view format) {
  constexpr std::string_view known = "aAbBdefgGHIjmMnpSuUVwWyYzZ";
  std::vector<FormatPart> parts;
  auto add_all = [&](std::string_view text) {
    for (FormatPart& part : parse_percent_format(text)) parts.push_back(std::move(part));
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      add_literal(parts, format[i]);
      continue;
    }
    const bool is_bare = i + 1 < format.size() && format[i + 1] == '-';
    i += is_bare ? 2 : 1;
    if (i >= format.size()) throw UserError("the format ends with %");
    const char c = format[i];
    if (c == '%')
      add_literal(parts, '%');
    else if (c == 'n')
      add_literal(parts, '\n');
    else if (c == 'x' || c == 'F')
      add_all("%Y-%m-%d");
    else if (c == 'X' || c == 'T')
      add_all("%H:%M:%S");
    else if (c == 'c')
      add_all("%Y-%m-%d %H:%M:%S");
    else if (c == 'D')
      add_all("%m/%d/%y");
    else if (known.find(c) != std::string_view::npos)
      parts.push_back({c, is_bare, ""});
    else
      throw UserError(fmt::format("the format has an unknown specifier %{}", c));
  }
  return parts;
}

bool starts_with_pattern(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[i] >= 'a' && text[i] <= 'z' ? static_cast<char>(text[i] - 'a' + 'A') : text[i];
    if (c != pattern[i]) return false;
  }
  return true;
}

std::vector<FormatPart> parse_postgres_format(std::string_view format) {
  // Longer patterns before their beginnings.
  static constexpr std::array<std::pair<std::string_view, char>, 17> patterns = {{{"YYYY", 'Y'},
                                                                                  {"YY", 'y'},
                                                                                  {"MONTH", 'B'},
                                                                                  {"MON", 'b'},
                                                                                  {"MM", 'm'},
                                                                                  {"MI", 'M'},
                                                                                  {"MS", 'f'},
                                                                                  {"US", 'f'},
                                                                                  {"DDD", 'j'},
                                                                                  {"DD", 'd'},
                                                                                  {"HH24", 'H'},
                                                                                  {"HH12", 'I'},
                                                                                  {"HH", 'I'},
                                                                                  {"SS", 'S'},
                                                                                  {"AM", 'p'},
                                                                                  {"PM", 'p'},
                                                                                  {"FM", 'n'}}};
  std::vector<FormatPart> parts;
  while (!format.empty()) {
    auto found =
        std::find_if(patterns.begin(), patterns.end(), [&](const auto& pattern) { return starts_with_pattern(format, pattern.first); });
    if (found != patterns.end()) {
      if (found->second != 'n') parts.push_back({found->second, false, ""});
      format.remove_prefix(found->first.size());
      continue;
    }
    const char c = format[0];
    if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
      if (c != 'T' && c != 'Z') throw UserError(fmt::format("the format has an unknown pattern at {}", format));
    }
    if (c == '"') {
      const size_t end = std::min(format.find('"', 1), format.size() - 1);
      for (size_t i = 1; i < end; ++i) add_literal(parts, format[i]);
      format.remove_prefix(end + 1);
      continue;
    }
    add_literal(parts, c);
    format.remove_prefix(1);
  }
  return parts;
}

// Compiled once as long as rows have the same format.
class RowFormats {
 public:
  using Parse = std::vector<FormatPart> (*)(std::string_view);
  RowFormats(const Argument& argument, Parse parse) : formats_(argument), parse_(parse) {}

  const std::vector<FormatPart>& operator[](int64_t row) {
    const std::string_view format = formats_[row];
    if (!is_parsed_ || format != last_) {
      parts_ = parse_(format);
      last_ = format;
      is_parsed_ = true;
    }
    return parts_;
  }

 private:
  ArgumentText formats_;
  Parse parse_;
  std::string last_;
  bool is_parsed_ = false;
  std::vector<FormatPart> parts_;
};

void append_part(const FormatPart& part, int64_t micros, std::string& out) {
  const int64_t day = days_of_micros(micros);
  const CivilDate date = civil_from_days(day);
  const int64_t time = floor_modulo(micros, kDayMicros);
  const int64_t hour = time / kHourMicros;
  const int64_t weekday = (weekday_of(day) + 1) % 7;  // Sunday is 0
  const int64_t day_of_year = day - days_from_civil(date.year, 1, 1) + 1;
  auto number = [&](int64_t value, int width) { out += part.is_bare ? fmt::format("{}", value) : fmt::format("{:0{}}", value, width); };
  switch (part.specifier) {
    case 0: out += part.literal; break;
    case 'a': out += kDaysFromSunday[static_cast<size_t>(weekday)].substr(0, 3); break;
    case 'A': out += kDaysFromSunday[static_cast<size_t>(weekday)]; break;
    case 'b': out += kMonthNames[static_cast<size_t>(date.month - 1)].substr(0, 3); break;
    case 'B': out += kMonthNames[static_cast<size_t>(date.month - 1)]; break;
    case 'd': number(date.day, 2); break;
    case 'e': out += fmt::format("{:2}", date.day); break;
    case 'f': out += fmt::format("{:06}", time % kSecondMicros); break;
    case 'g': out += fmt::format("{:03}", time % kSecondMicros / 1000); break;
    case 'G': out += fmt::format("{:04}", iso_week(day).year); break;
    case 'H': number(hour, 2); break;
    case 'I': number((hour + 11) % 12 + 1, 2); break;
    case 'j': number(day_of_year, 3); break;
    case 'm': number(date.month, 2); break;
    case 'M': number(time / kMinuteMicros % 60, 2); break;
    case 'p': out += hour < 12 ? "AM" : "PM"; break;
    case 'S': number(time / kSecondMicros % 60, 2); break;
    case 'u': out += fmt::format("{}", weekday == 0 ? 7 : weekday); break;
    case 'U': number((day_of_year + 6 - weekday) / 7, 2); break;
    case 'V': number(iso_week(day).week, 2); break;
    case 'w': out += fmt::format("{}", weekday); break;
    case 'W': number((day_of_year + 6 - (weekday + 6) % 7) / 7, 2); break;
    case 'y': number(floor_modulo(date.year, 100), 2); break;
    case 'Y': number(date.year, 4); break;
    case 'z': out += "+00"; break;
    default: out += "UTC"; break;  // Z
  }
}

Column format_by_percents(const FunctionCall& call) {
  ArgumentValues<int64_t> micros(call.arguments[0]);
  RowFormats formats(call.arguments[1], parse_percent_format);
  std::string text;
  return build_text(call, call.rows * 20, [&](int64_t row, TextBuilder& builder) {
    const int64_t value = micros[row];
    const bool is_infinite = value == std::numeric_limits<int64_t>::max() || value == -std::numeric_limits<int64_t>::max();
    text.clear();
    if (is_infinite) text = value > 0 ? "infinity" : "-infinity";
    for (const FormatPart& part : formats[row]) {
      if (!is_infinite) append_part(part, value, text);
    }
    builder.append(text);
  });
}

// Reads a text by a format.
class MomentReader {
 public:
  MomentReader(std::string_view text, const std::vector<FormatPart>& parts) : text_(text), whole_(text), parts_(parts) {}

  // Microseconds since 1970.
  int64_t read() {
    for (const FormatPart& part : parts_) read_part(part);
    skip_blanks();
    if (!text_.empty()) fail();
    if (is_afternoon_) hour_ = hour_ % 12 + (*is_afternoon_ ? 12 : 0);
    if (month_ < 1 || month_ > 12 || day_ < 1 || day_ > days_in_month(year_, month_)) fail();
    if (hour_ > 23 || minute_ > 59 || second_ > 59) fail();
    int64_t day = days_from_civil(year_, month_, day_);
    if (day_of_year_) day = days_from_civil(year_, 1, 1) + *day_of_year_ - 1;
    if (day < kFirstDay || day > kLastDay) fail();
    __int128 micros =
        static_cast<__int128>(day) * kDayMicros + hour_ * kHourMicros + minute_ * kMinuteMicros + second_ * kSecondMicros + fraction_;
    micros -= static_cast<__int128>(zone_minutes_) * kMinuteMicros;
    if (micros < kFirstMicros || micros > std::numeric_limits<int64_t>::max() - 1) fail();
    return static_cast<int64_t>(micros);
  }

 private:
  [[noreturn]] void fail() const { throw UserError(fmt::format("the text {} does not have the given format", whole_)); }

  void skip_blanks() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }

  int64_t number(size_t most_digits) {
    int64_t value = 0;
    size_t digits = 0;
    while (digits < most_digits && digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9')
      value = value * 10 + (text_[digits++] - '0');
    if (digits == 0) fail();
    text_.remove_prefix(digits);
    return value;
  }

  // The index of the name that the text starts with.
  template <size_t count>
  int64_t name(const std::array<std::string_view, count>& names, size_t shortest) {
    for (size_t i = 0; i < count; ++i) {
      for (const size_t length : {names[i].size(), shortest}) {
        std::string upper(names[i].substr(0, length));
        for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (!starts_with_pattern(text_, upper)) continue;
        text_.remove_prefix(upper.size());
        return static_cast<int64_t>(i);
      }
    }
    fail();
  }

  void read_part(const FormatPart& part) {
    if (part.specifier != 0 && part.specifier != 'f') skip_blanks();
    switch (part.specifier) {
      case 0:
        for (const char c : part.literal) {
          if (c == ' ') {
            skip_blanks();
            continue;
          }
          if (text_.empty() || text_[0] != c) fail();
          text_.remove_prefix(1);
        }
        break;
      case 'Y': {
        const bool is_negative = text_.starts_with('-');
        if (is_negative) text_.remove_prefix(1);
        year_ = number(4) * (is_negative ? -1 : 1);
        break;
      }
      case 'y': {
        const int64_t two = number(2);
        year_ = two + (two < 70 ? 2000 : 1900);
        break;
      }
      case 'm': month_ = number(2); break;
      case 'b':
      case 'B': month_ = name(kMonthNames, 3) + 1; break;
      case 'd':
      case 'e': day_ = number(2); break;
      case 'j': day_of_year_ = number(3); break;
      case 'H':
      case 'I': hour_ = number(2); break;
      case 'M': minute_ = number(2); break;
      case 'S': second_ = number(2); break;
      case 'f':
      case 'g': read_fraction(); break;
      case 'p': is_afternoon_ = name(std::array<std::string_view, 2>{"AM", "PM"}, 2) == 1; break;
      case 'a':
      case 'A': name(kDaysFromSunday, 3); break;
      case 'z': read_zone(); break;
      default: throw UserError(fmt::format("%{} cannot be read from text", part.specifier));
    }
  }

  void read_fraction() {
    const size_t before = text_.size();
    int64_t value = number(9);
    size_t digits = before - text_.size();
    for (; digits < 6; ++digits) value *= 10;
    for (; digits > 6; --digits) value /= 10;
    fraction_ = value;
  }

  void read_zone() {
    if (text_.starts_with('Z')) return text_.remove_prefix(1);
    if (text_.empty() || (text_[0] != '+' && text_[0] != '-')) fail();
    const int64_t sign = text_[0] == '-' ? -1 : 1;
    text_.remove_prefix(1);
    const int64_t hours = number(2);
    if (text_.starts_with(':')) text_.remove_prefix(1);
    const bool has_minutes = !text_.empty() && text_[0] >= '0' && text_[0] <= '9';
    const int64_t minutes = has_minutes ? number(2) : 0;
    if (hours > 15 || minutes > 59) fail();
    zone_minutes_ = sign * (hours * 60 + minutes);
  }

  std::string_view text_;
  const std::string_view whole_;
  const std::vector<FormatPart>& parts_;
  int64_t year_ = 1900, month_ = 1, day_ = 1, hour_ = 0, minute_ = 0, second_ = 0, fraction_ = 0, zone_minutes_ = 0;
  std::optional<int64_t> day_of_year_;
  std::optional<bool> is_afternoon_;
};

Column read_by_percents(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  RowFormats formats(call.arguments[1], parse_percent_format);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return MomentReader(text[row], formats[row]).read(); });
}

Column read_by_patterns(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  RowFormats formats(call.arguments[1], parse_postgres_format);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return MomentReader(text[row], formats[row]).read(); });
}

Column read_date_by_patterns(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  RowFormats formats(call.arguments[1], parse_postgres_format);
  return fill_counted_rows<int32_t>(
      call, [&](int64_t row) { return static_cast<int32_t>(days_of_micros(MomentReader(text[row], formats[row]).read())); });
}

// `unit` of months, days or microseconds each.
template <int64_t months, int64_t days, int64_t micros>
Column interval_of_number(const FunctionCall& call) {
  ArgumentValues<int64_t> numbers(call.arguments[0]);
  return fill_wide_rows(call, [&](int64_t row) {
    Interval interval{0, 0, 0};
    bool overflow = __builtin_mul_overflow(numbers[row], months, &interval.months);
    overflow |= __builtin_mul_overflow(numbers[row], days, &interval.days);
    overflow |= __builtin_mul_overflow(numbers[row], micros, &interval.micros);
    if (overflow) throw UserError("interval out of range");
    return pack_interval(interval);
  });
}

template <int64_t unit>
Column epoch_of_timestamp(const FunctionCall& call) {
  ArgumentValues<int64_t> micros(call.arguments[0]);
  return fill_rows<int64_t>(call, [&](int64_t row) { return floor_divide(micros[row], unit); });
}

Column timestamp_of_milliseconds(const FunctionCall& call) {
  ArgumentValues<int64_t> milliseconds(call.arguments[0]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    int64_t micros = 0;
    if (__builtin_mul_overflow(milliseconds[row], int64_t{1000}, &micros) || micros < kFirstMicros)
      throw UserError("timestamp out of range");
    return micros;
  });
}

Column julian_day(const FunctionCall& call) {
  ArgumentValues<int64_t> micros(call.arguments[0]);
  return fill_rows<double>(call, [&](int64_t row) {
    return static_cast<double>(micros[row]) / static_cast<double>(kDayMicros) - static_cast<double>(kFirstDay);
  });
}

Column make_time_of_day(const FunctionCall& call) {
  ArgumentValues<int64_t> hour(call.arguments[0]);
  ArgumentValues<int64_t> minute(call.arguments[1]);
  ArgumentValues<double> second(call.arguments[2]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    const bool fits = hour[row] >= 0 && hour[row] < 24 && minute[row] >= 0 && minute[row] < 60 && second[row] >= 0 && second[row] < 60;
    if (!fits) throw UserError("time out of range");
    return hour[row] * kHourMicros + minute[row] * kMinuteMicros +
           static_cast<int64_t>(second[row] * static_cast<double>(kSecondMicros) + 0.5);
  });
}

using Resolver = std::optional<FunctionTypes> (*)(Types, Literals);

constexpr Function make_date_function(std::string_view name, Resolver resolve, Column (*evaluate)(const FunctionCall&),
                                      std::string_view signature, std::string_view description) {
  return {.name = name, .resolve = resolve, .evaluate = evaluate, .can_raise = true, .signature = signature, .description = description};
}

constexpr TypeKind kMoment = TypeKind::Timestamp;
constexpr TypeKind kSpan = TypeKind::Interval;

const std::array kDateFormatFunctions = {
    make_date_function(
        "strftime", resolve_as<kText, kMoment, kText>, format_by_percents, "strftime(value TIMESTAMP, format VARCHAR) -> VARCHAR",
        "As text by a format: %Y year, %m month, %d day, %H hour, %M minute, %S second, %f microseconds, %a %A day, %b %B month, "
        "%j day of year, %p AM or PM; %-d without zeros"),
    make_date_function("strptime", resolve_as<kMoment, kText, kText>, read_by_percents,
                       "strptime(text VARCHAR, format VARCHAR) -> TIMESTAMP",
                       "The timestamp in a text of this format, which is that of strftime"),
    make_date_function("to_date", resolve_as<TypeKind::Date, kText, kText>, read_date_by_patterns,
                       "to_date(text VARCHAR, format VARCHAR) -> DATE",
                       "The date in a text of this format: YYYY, YY, MM, MON, MONTH, DD, DDD"),
    make_date_function("to_timestamp", resolve_as<TypeKind::TimestampTz, kText, kText>, read_by_patterns,
                       "to_timestamp(text VARCHAR, format VARCHAR) -> TIMESTAMP WITH TIME ZONE",
                       "The timestamp in a text of this format: YYYY, MM, MON, DD, HH24, HH12, MI, SS, MS, US, AM"),
    make_date_function("to_centuries", resolve_as<kSpan, kWhole>, interval_of_number<1200, 0, 0>, "to_centuries(number BIGINT) -> INTERVAL",
                       "That many centuries"),
    make_date_function("to_decades", resolve_as<kSpan, kWhole>, interval_of_number<120, 0, 0>, "to_decades(number BIGINT) -> INTERVAL",
                       "That many decades"),
    make_date_function("to_years", resolve_as<kSpan, kWhole>, interval_of_number<12, 0, 0>, "to_years(number BIGINT) -> INTERVAL",
                       "That many years"),
    make_date_function("to_quarters", resolve_as<kSpan, kWhole>, interval_of_number<3, 0, 0>, "to_quarters(number BIGINT) -> INTERVAL",
                       "That many quarters"),
    make_date_function("to_months", resolve_as<kSpan, kWhole>, interval_of_number<1, 0, 0>, "to_months(number BIGINT) -> INTERVAL",
                       "That many months"),
    make_date_function("to_weeks", resolve_as<kSpan, kWhole>, interval_of_number<0, 7, 0>, "to_weeks(number BIGINT) -> INTERVAL",
                       "That many weeks"),
    make_date_function("to_days", resolve_as<kSpan, kWhole>, interval_of_number<0, 1, 0>, "to_days(number BIGINT) -> INTERVAL",
                       "That many days"),
    make_date_function("to_hours", resolve_as<kSpan, kWhole>, interval_of_number<0, 0, kHourMicros>, "to_hours(number BIGINT) -> INTERVAL",
                       "That many hours"),
    make_date_function("to_minutes", resolve_as<kSpan, kWhole>, interval_of_number<0, 0, kMinuteMicros>,
                       "to_minutes(number BIGINT) -> INTERVAL", "That many minutes"),
    make_date_function("to_seconds", resolve_as<kSpan, kWhole>, interval_of_number<0, 0, kSecondMicros>,
                       "to_seconds(number BIGINT) -> INTERVAL", "That many seconds"),
    make_date_function("to_milliseconds", resolve_as<kSpan, kWhole>, interval_of_number<0, 0, 1000>,
                       "to_milliseconds(number BIGINT) -> INTERVAL", "That many milliseconds"),
    make_date_function("to_microseconds", resolve_as<kSpan, kWhole>, interval_of_number<0, 0, 1>,
                       "to_microseconds(number BIGINT) -> INTERVAL", "That many microseconds"),
    make_date_function("epoch_ms", resolve_as<kMoment, kWhole>, timestamp_of_milliseconds, "epoch_ms(milliseconds BIGINT) -> TIMESTAMP",
                       "The timestamp that many milliseconds after 1970-01-01 00:00:00"),
    make_date_function("epoch_ms", resolve_as<kWhole, kMoment>, epoch_of_timestamp<1000>, "epoch_ms(value TIMESTAMP) -> BIGINT",
                       "Milliseconds since 1970"),
    make_date_function("epoch_us", resolve_as<kWhole, kMoment>, epoch_of_timestamp<1>, "epoch_us(value TIMESTAMP) -> BIGINT",
                       "Microseconds since 1970"),
    make_date_function("julian", resolve_as<kDouble, kMoment>, julian_day, "julian(value TIMESTAMP) -> DOUBLE",
                       "Julian day number, from midnight on"),
    make_date_function("make_time", resolve_as<TypeKind::Time, kWhole, kWhole, kDouble>, make_time_of_day,
                       "make_time(hour BIGINT, minute BIGINT, second DOUBLE) -> TIME", "A time of day from its parts"),
};

}  // namespace

std::span<const Function> date_format_functions() {
  return kDateFormatFunctions;
}

}  // namespace pistachio
