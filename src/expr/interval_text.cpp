#include "expr/interval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/calendar.h"

namespace pistachio {

namespace {

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_letter(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0;
}

bool belongs_to_number(char letter) {
  return is_digit(letter) || letter == '.' || letter == ':' || letter == '-';
}

// Each field may be set once: a bit per field.
enum IntervalField : unsigned {
  kNoField = 0,
  kMicroseconds = 1 << 0,
  kMilliseconds = 1 << 1,
  kSeconds = 1 << 2,
  kMinutes = 1 << 3,
  kHours = 1 << 4,
  kDays = 1 << 5,
  kWeeks = 1 << 6,
  kMonths = 1 << 7,
  kYears = 1 << 8,
  kDecades = 1 << 9,
  kCenturies = 1 << 10,
  kMillennia = 1 << 11,
  kAgo = 1 << 12,
};
constexpr unsigned kAllSeconds = kSeconds | kMilliseconds | kMicroseconds;
constexpr unsigned kClock = kHours | kMinutes | kAllSeconds;

struct NamedField {
  std::string_view name;
  IntervalField field;
};

constexpr NamedField kNamedFields[] = {
    {"microsecon", kMicroseconds}, {"us", kMicroseconds}, {"usec", kMicroseconds}, {"usecs", kMicroseconds},
    {"usecond", kMicroseconds}, {"useconds", kMicroseconds}, {"millisecon", kMilliseconds}, {"ms", kMilliseconds},
    {"msec", kMilliseconds}, {"msecs", kMilliseconds}, {"msecond", kMilliseconds}, {"mseconds", kMilliseconds}, {"s", kSeconds},
    {"sec", kSeconds}, {"secs", kSeconds}, {"second", kSeconds}, {"seconds", kSeconds}, {"m", kMinutes}, {"min", kMinutes},
    {"mins", kMinutes}, {"minute", kMinutes}, {"minutes", kMinutes}, {"h", kHours}, {"hr", kHours}, {"hrs", kHours},
    {"hour", kHours}, {"hours", kHours}, {"d", kDays}, {"day", kDays}, {"days", kDays}, {"w", kWeeks}, {"week", kWeeks},
    {"weeks", kWeeks}, {"mon", kMonths}, {"mons", kMonths}, {"month", kMonths}, {"months", kMonths}, {"y", kYears},
    {"yr", kYears}, {"yrs", kYears}, {"year", kYears}, {"years", kYears}, {"dec", kDecades}, {"decs", kDecades},
    {"decade", kDecades}, {"decades", kDecades}, {"c", kCenturies}, {"cent", kCenturies}, {"century", kCenturies},
    {"centuries", kCenturies}, {"mil", kMillennia}, {"mils", kMillennia}, {"millennia", kMillennia}, {"millennium", kMillennia},
    {"ago", kAgo}};

// Only the first ten letters of a word are significant, as in PostgreSQL.
IntervalField field_named(std::string_view word) {
  for (const NamedField& known : kNamedFields) {
    if (known.name == word.substr(0, 10)) return known.field;
  }
  return kNoField;
}

// Whether a word and the next character would form one word, a date or a zone: PostgreSQL accepts 1d2h and 1mon+2d, but not 1day2h.
bool runs_on(std::string_view word, char next) {
  if (next == '-' || next == '/' || next == '.') return true;
  constexpr std::string_view ends_by_itself[] = {"s", "m", "h", "d", "mon", "y", "dec"};
  bool is_known = std::find(std::begin(ends_by_itself), std::end(ends_by_itself), word) != std::end(ends_by_itself);
  return (next == '+' || is_digit(next)) && !is_known;
}

// Accumulates months, days and microseconds in integers; fractions of a unit go to the next smaller ones. Throws on overflow.
class IntervalSum {
 public:
  explicit IntervalSum(std::string_view text) : text_(text) {}

  [[noreturn]] void refuse_range() const { throw UserError(fmt::format("'{}' is out of range for INTERVAL", text_)); }

  void add_micros(Int128 count) { micros_ = narrowed<int64_t>(micros_ + count); }
  void add_days(Int128 count) { days_ = narrowed<int32_t>(days_ + count); }
  void add_months(Int128 count) { months_ = narrowed<int32_t>(months_ + count); }

  // `fraction` in (-1, 1) of `unit` microseconds. Rounds halves towards zero.
  void add_part_of_micros(double fraction, int64_t unit) {
    double exact = fraction * static_cast<double>(unit);
    auto whole = static_cast<int64_t>(exact);
    double rest = exact - static_cast<double>(whole);
    add_micros(whole + (rest > 0.5 ? 1 : rest < -0.5 ? -1 : 0));
  }
  void add_part_of_days(double fraction, int days) {
    double exact = fraction * days;
    auto whole = static_cast<int64_t>(exact);
    add_days(whole);
    add_part_of_micros(exact - static_cast<double>(whole), kDayMicros);
  }

  void add(int64_t whole, double fraction, IntervalField field) {
    switch (field) {
      case kMicroseconds: return add_time(whole, fraction, 1);
      case kMilliseconds: return add_time(whole, fraction, 1'000);
      case kSeconds: return add_time(whole, fraction, kSecondMicros);
      case kMinutes: return add_time(whole, fraction, kMinuteMicros);
      case kHours: return add_time(whole, fraction, kHourMicros);
      case kDays:
        add_days(whole);
        return add_part_of_micros(fraction, kDayMicros);
      case kWeeks:
        add_days(Int128{whole} * 7);
        return add_part_of_days(fraction, 7);
      case kMonths:
        add_months(whole);
        return add_part_of_days(fraction, 30);
      case kYears: return add_years(whole, fraction, 1);
      case kDecades: return add_years(whole, fraction, 10);
      case kCenturies: return add_years(whole, fraction, 100);
      default: return add_years(whole, fraction, 1'000);
    }
  }

  void negate() {
    months_ = narrowed<int32_t>(-Int128{months_});
    days_ = narrowed<int32_t>(-Int128{days_});
    micros_ = narrowed<int64_t>(-Int128{micros_});
  }

  IntervalParts parts() const { return {months_, days_, micros_}; }

 private:
  template <typename Value>
  Value narrowed(Int128 value) const {
    if (value > std::numeric_limits<Value>::max() || value < std::numeric_limits<Value>::min()) refuse_range();
    return static_cast<Value>(value);
  }
  void add_time(int64_t whole, double fraction, int64_t unit) {
    add_micros(Int128{whole} * unit);
    add_part_of_micros(fraction, unit);
  }
  void add_years(int64_t whole, double fraction, int years) {
    add_months(Int128{whole} * years * 12);
    add_months(static_cast<int64_t>(std::rint(fraction * years * 12)));
  }

  std::string_view text_;
  int64_t months_ = 0;
  int64_t days_ = 0;
  int64_t micros_ = 0;
};

struct IntervalToken {
  enum class Kind { Number, Word };
  Kind kind;
  std::string text;  // a number: sign, digits and what separates them
};

// Parses one text. Tokens are read from the end, so that a unit is known before its number.
class IntervalReader {
 public:
  IntervalReader(std::string_view text, std::string_view fields) : whole_(text), fields_(fields), sum_(text) {
    text_.assign(text);
    std::transform(text_.begin(), text_.end(), text_.begin(), [](unsigned char letter) { return std::tolower(letter); });
  }

  IntervalParts read() {
    // The ISO form allows no surrounding spaces, as in PostgreSQL; the other form allows spaces anywhere.
    if (std::string_view(text_).starts_with('p') && text_.size() > 1) {
      read_iso();
    } else {
      read_fields();
    }
    return sum_.parts();
  }

 private:
  [[noreturn]] void refuse() const { throw UserError(fmt::format("'{}' is not a valid INTERVAL", whole_)); }

  std::vector<IntervalToken> tokens() const {
    std::vector<IntervalToken> found;
    size_t at = 0;
    auto take_while = [&](auto belongs) {
      size_t begin = at;
      while (at < text_.size() && belongs(text_[at])) ++at;
      return text_.substr(begin, at - begin);
    };
    while (at < text_.size()) {
      char letter = text_[at];
      if (is_letter(letter)) {
        found.push_back({IntervalToken::Kind::Word, take_while(is_letter)});
        if (at < text_.size() && runs_on(found.back().text, text_[at])) refuse();
      } else if (is_digit(letter) || letter == '.') {
        found.push_back({IntervalToken::Kind::Number, take_while(belongs_to_number)});
        // A word may not directly follow a number that ends in a point.
        if (text_[at - 1] == '.' && at < text_.size() && is_letter(text_[at])) refuse();
      } else if (letter == '+' || letter == '-') {
        ++at;
        take_while(is_space);
        std::string number = take_while(belongs_to_number);
        if (number.empty() || !is_digit(number[0])) refuse();
        found.push_back({IntervalToken::Kind::Number, letter + number});
      } else if (is_space(letter) || std::ispunct(static_cast<unsigned char>(letter)) != 0) {
        ++at;
      } else {
        refuse();
      }
    }
    return found;
  }

  void read_fields() {
    std::vector<IntervalToken> parts = tokens();
    std::optional<IntervalField> field;
    bool is_ago = false;
    unsigned known = 0;
    for (size_t i = parts.size(); i-- > 0;) {
      if (parts[i].kind == IntervalToken::Kind::Word) {
        IntervalField named = field_named(parts[i].text);
        if (named == kNoField) refuse();
        is_ago = is_ago || named == kAgo;
        field = named;
        continue;
      }
      unsigned set = read_number(parts[i].text, field);
      if ((set & known) != 0) refuse();
      known |= set;
    }
    if (known == 0) refuse();
    if (is_ago) sum_.negate();
  }

  // Returns the fields that the number sets. `field`: in, the unit after the number; out, the default unit for the number before it.
  unsigned read_number(std::string_view token, std::optional<IntervalField>& field) {
    bool is_negative = token[0] == '-';
    if (token[0] == '-' || token[0] == '+') token.remove_prefix(1);
    if (token.find(':') != std::string_view::npos) {
      read_clock(token, is_negative);
      field = kDays;
      return kClock;
    }
    if (!field) field = default_field();
    if (*field == kAgo) refuse();
    int64_t whole = read_integer(token);
    if (!token.empty() && token[0] == '-') {
      field = kMonths;
      return read_years_and_months(token, whole, is_negative);
    }
    double fraction = read_fraction(token);
    if (!token.empty()) refuse();
    IntervalField own = *field;
    sum_.add(is_negative ? -whole : whole, is_negative ? -fraction : fraction, own);
    if (own == kHours) field = kDays;
    return own == kSeconds && fraction != 0 ? kAllSeconds : static_cast<unsigned>(own);
  }

  unsigned read_years_and_months(std::string_view token, int64_t years, bool is_negative) {
    token.remove_prefix(1);
    int64_t months = read_integer(token);
    if (!token.empty()) refuse();
    if (months >= 12) sum_.refuse_range();
    Int128 total = Int128{years} * 12 + months;
    sum_.add_months(is_negative ? -total : total);
    return kMonths;
  }

  // h:m[:s[.f]]; or m:s if the literal's fields or a decimal point imply that.
  void read_clock(std::string_view token, bool is_negative) {
    int64_t hours = read_integer(token);
    if (token.empty() || token[0] != ':') refuse();
    token.remove_prefix(1);
    int64_t minutes = read_integer(token);
    int64_t seconds = 0;
    bool is_minutes_and_seconds = fields_ == "minute to second";
    if (!token.empty() && token[0] == ':') {
      token.remove_prefix(1);
      seconds = read_integer(token);
    } else if (is_minutes_and_seconds || (!token.empty() && token[0] == '.')) {
      seconds = minutes;
      minutes = hours;
      hours = 0;
    }
    auto fraction = static_cast<int64_t>(std::rint(read_fraction(token) * 1e6));
    if (!token.empty()) refuse();
    if (minutes > 59 || seconds > 60) sum_.refuse_range();
    Int128 micros = Int128{hours} * kHourMicros + minutes * kMinuteMicros + seconds * kSecondMicros + fraction;
    sum_.add_micros(is_negative ? -micros : micros);
  }

  // Digits; optional before a point.
  int64_t read_integer(std::string_view& token) const {
    int64_t value = 0;
    auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (status == std::errc::result_out_of_range) sum_.refuse_range();
    bool has_digits = status == std::errc() && token[0] != '-';
    if (!has_digits && !token.starts_with('.')) refuse();
    if (!has_digits) return 0;
    token.remove_prefix(static_cast<size_t>(end - token.data()));
    return value;
  }

  static double read_fraction(std::string_view& token) {
    if (token.empty() || token[0] != '.') return 0;
    size_t end = 1;
    while (end < token.size() && is_digit(token[end])) ++end;
    double fraction = 0;
    std::string digits = "0" + std::string(token.substr(0, end));
    std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
    token.remove_prefix(end);
    return fraction;
  }

  // A number without a unit has the unit of the last field after the literal, or seconds.
  IntervalField default_field() const {
    return fields_.empty() ? kSeconds : field_named(fields_.substr(fields_.find_last_of(' ') + 1));
  }

  // P[nY][nM][nW][nD][T[nH][nM][nS]]
  void read_iso() {
    std::string_view rest = std::string_view(text_).substr(1);
    bool is_time = false;
    while (!rest.empty()) {
      if (rest[0] == 't') {
        if (is_time) refuse();
        is_time = true;
        rest.remove_prefix(1);
        continue;
      }
      bool is_negative = rest[0] == '-';
      if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
      int64_t whole = read_integer(rest);
      double fraction = read_fraction(rest);
      if (rest.empty()) refuse();
      IntervalField field = iso_field(rest[0], is_time);
      rest.remove_prefix(1);
      sum_.add(is_negative ? -whole : whole, is_negative ? -fraction : fraction, field);
    }
  }

  IntervalField iso_field(char letter, bool is_time) const {
    switch (letter) {
      case 'y': return is_time ? (refuse(), kNoField) : kYears;
      case 'm': return is_time ? kMinutes : kMonths;
      case 'w': return is_time ? (refuse(), kNoField) : kWeeks;
      case 'd': return is_time ? (refuse(), kNoField) : kDays;
      case 'h': return is_time ? kHours : (refuse(), kNoField);
      case 's': return is_time ? kSeconds : (refuse(), kNoField);
      default: refuse();
    }
  }

  std::string_view whole_;
  std::string text_;
  std::string_view fields_;
  IntervalSum sum_;
};

// Fields smaller than the last one given after the literal are truncated, not rounded.
IntervalParts cut_to_fields(IntervalParts parts, std::string_view fields) {
  std::string_view last = fields.substr(fields.find_last_of(' ') + 1);
  if (last == "year") parts.months -= parts.months % 12;
  if (last == "year" || last == "month") parts.days = 0;
  if (last == "year" || last == "month" || last == "day") parts.micros = 0;
  if (last == "hour") parts.micros -= parts.micros % kHourMicros;
  if (last == "minute") parts.micros -= parts.micros % kMinuteMicros;
  return parts;
}

}  // namespace

ScalarValue make_interval(int64_t months, int64_t days, int64_t micros) {
  if (months > INT32_MAX || months < INT32_MIN || days > INT32_MAX || days < INT32_MIN) throw UserError("interval out of range");
  auto high = static_cast<int64_t>((static_cast<uint64_t>(months) << 32) | static_cast<uint32_t>(days));
  return ScalarValue::of_integer(TypeKind::Interval, (Int128{high} << 64) | static_cast<Int128>(static_cast<uint64_t>(micros)));
}

IntervalParts interval_parts(const ScalarValue& interval) {
  auto high = static_cast<int64_t>(interval.integer >> 64);
  return {high >> 32, static_cast<int32_t>(high), static_cast<int64_t>(interval.integer)};
}

ScalarValue parse_interval(std::string_view text, std::string_view fields) {
  IntervalParts parts = cut_to_fields(IntervalReader(text, fields).read(), fields);
  return make_interval(parts.months, parts.days, parts.micros);
}

}  // namespace pistachio
