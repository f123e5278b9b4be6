#include "expr/date_text.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "columns/scalar_access.h"
#include "data/calendar.h"
#include "expr/argument_access.h"
#include "expr/calendar_names.h"
#include "expr/date_fields.h"
#include "expr/text_builder.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr std::array<std::string_view, 12> kRomanMonths = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"};

template <size_t count>
std::shared_ptr<const Column> column_of_names(const std::array<std::string_view, count>& names) {
  std::vector<ScalarValue> values;
  for (std::string_view name : names) values.push_back(ScalarValue::of_text(TypeKind::Varchar, std::string(name)));
  return std::make_shared<const Column>(column_of_values(TypeKind::Varchar, values));
}

template <size_t count, typename Code>
Column coded_names(const FunctionCall& call, const std::array<std::string_view, count>& names, const Code& code_of) {
  ArgumentValues<int64_t> micros(in_whole_microseconds(call.arguments[0]));
  at::Tensor codes = at::empty({call.rows}, at::kInt);
  int32_t* out = codes.mutable_data_ptr<int32_t>();
  for (int64_t row = 0; row < call.rows; ++row) out[row] = static_cast<int32_t>(code_of(days_of_micros(micros[row])));
  return Column::dictionary(std::move(codes), column_of_names(names));
}

enum class Pattern {
  Literal,
  YearWithComma,
  Year4,
  Year3,
  Year2,
  Year1,
  IsoYear,
  IsoYear3,
  IsoYear2,
  IsoYear1,
  Century,
  Quarter,
  Month,
  MonthName,
  ShortMonth,
  RomanMonth,
  JulianDay,
  Day,
  DayOfYear,
  IsoDayOfYear,
  DayOfWeek,
  IsoDayOfWeek,
  DayName,
  ShortDay,
  IsoWeek,
  Week,
  WeekOfMonth,
  Hour24,
  Hour12,
  Minute,
  Second,
  SecondOfDay,
  Millisecond,
  Microsecond,
  Fraction1,
  Fraction2,
  Fraction3,
  Fraction4,
  Fraction5,
  Fraction6,
  Fraction7,
  Fraction8,
  Fraction9,
  HalfDay,
  HalfDayDotted,
  Era,
  EraDotted
};

struct PatternName {
  std::string_view name;
  Pattern pattern;
};

// A longer name precedes its prefixes.
constexpr PatternName kPatterns[] = {{"IYYY", Pattern::IsoYear},
                                     {"IYY", Pattern::IsoYear3},
                                     {"IY", Pattern::IsoYear2},
                                     {"IDDD", Pattern::IsoDayOfYear},
                                     {"Y,YYY", Pattern::YearWithComma},
                                     {"YYYY", Pattern::Year4},
                                     {"YYY", Pattern::Year3},
                                     {"YY", Pattern::Year2},
                                     {"Y", Pattern::Year1},
                                     {"CC", Pattern::Century},
                                     {"Q", Pattern::Quarter},
                                     {"MONTH", Pattern::MonthName},
                                     {"MON", Pattern::ShortMonth},
                                     {"MM", Pattern::Month},
                                     {"MI", Pattern::Minute},
                                     {"MS", Pattern::Millisecond},
                                     {"DAY", Pattern::DayName},
                                     {"DY", Pattern::ShortDay},
                                     {"DDD", Pattern::DayOfYear},
                                     {"DD", Pattern::Day},
                                     {"D", Pattern::DayOfWeek},
                                     {"ID", Pattern::IsoDayOfWeek},
                                     {"IW", Pattern::IsoWeek},
                                     {"I", Pattern::IsoYear1},
                                     {"J", Pattern::JulianDay},
                                     {"RM", Pattern::RomanMonth},
                                     {"WW", Pattern::Week},
                                     {"W", Pattern::WeekOfMonth},
                                     {"FF1", Pattern::Fraction1},
                                     {"FF2", Pattern::Fraction2},
                                     {"FF3", Pattern::Fraction3},
                                     {"FF4", Pattern::Fraction4},
                                     {"FF5", Pattern::Fraction5},
                                     {"FF6", Pattern::Fraction6},
                                     {"FF7", Pattern::Fraction7},
                                     {"FF8", Pattern::Fraction8},
                                     {"FF9", Pattern::Fraction9},
                                     {"HH24", Pattern::Hour24},
                                     {"HH12", Pattern::Hour12},
                                     {"HH", Pattern::Hour12},
                                     {"SSSSS", Pattern::SecondOfDay},
                                     {"SSSS", Pattern::SecondOfDay},
                                     {"SS", Pattern::Second},
                                     {"US", Pattern::Microsecond},
                                     {"A.M.", Pattern::HalfDayDotted},
                                     {"P.M.", Pattern::HalfDayDotted},
                                     {"AM", Pattern::HalfDay},
                                     {"PM", Pattern::HalfDay},
                                     {"B.C.", Pattern::EraDotted},
                                     {"A.D.", Pattern::EraDotted},
                                     {"BC", Pattern::Era},
                                     {"AD", Pattern::Era}};

enum class NameCase { AsWritten, Upper, Lower };

struct Token {
  Pattern pattern = Pattern::Literal;
  NameCase name_case = NameCase::AsWritten;
  bool padded = true;
  std::string literal;
  // TH or th after the pattern: 1st, 2nd. Names consume the suffix but print nothing for it.
  bool is_ordinal = false;
  bool is_upper_ordinal = false;
};

char upper(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

// In upper or in lower case; the names of months and days also with a capital first letter.
bool starts_with_name(std::string_view text, std::string_view name) {
  if (text.size() < name.size()) return false;
  bool is_upper = true;
  bool is_lower = true;
  bool is_capitalized = true;
  for (size_t i = 0; i < name.size(); ++i) {
    if (upper(text[i]) != name[i]) return false;
    bool is_letter = std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    bool is_small = text[i] != name[i];
    is_upper = is_upper && !is_small;
    is_lower = is_lower && (is_small || !is_letter);
    is_capitalized = is_capitalized && is_small == (i > 0);
  }
  bool has_capitalized = name == "MONTH" || name == "MON" || name == "DAY" || name == "DY";
  return is_upper || is_lower || (has_capitalized && is_capitalized);
}

NameCase case_of(std::string_view written) {
  if (std::islower(static_cast<unsigned char>(written[0])) != 0) return NameCase::Lower;
  return std::islower(static_cast<unsigned char>(written[1])) != 0 ? NameCase::AsWritten : NameCase::Upper;
}

std::vector<Token> parse_format(std::string_view format) {
  std::vector<Token> tokens;
  auto add_literal = [&](char letter) {
    if (tokens.empty() || tokens.back().pattern != Pattern::Literal) tokens.emplace_back();
    tokens.back().literal += letter;
  };
  bool padded = true;
  while (!format.empty()) {
    if (format[0] == '"') {
      format.remove_prefix(1);
      while (!format.empty() && format[0] != '"') {
        if (format[0] == '\\' && format.size() > 1) format.remove_prefix(1);
        add_literal(format[0]);
        format.remove_prefix(1);
      }
      if (!format.empty()) format.remove_prefix(1);
      continue;
    }
    // TM requests names in the session's language, which is English, without padding.
    if (starts_with_name(format, "FM") || starts_with_name(format, "TM")) {
      padded = false;
      format.remove_prefix(2);
      continue;
    }
    const PatternName* found = nullptr;
    for (const PatternName& candidate : kPatterns) {
      if (found == nullptr && starts_with_name(format, candidate.name)) found = &candidate;
    }
    if (found == nullptr) {
      add_literal(format[0]);
      format.remove_prefix(1);
      continue;
    }
    Token token{.pattern = found->pattern, .padded = padded};
    if (found->name.size() > 1) token.name_case = case_of(format);
    format.remove_prefix(found->name.size());
    if (format.starts_with("TH") || format.starts_with("th")) {
      token.is_ordinal = true;
      token.is_upper_ordinal = format[0] == 'T';
      format.remove_prefix(2);
    }
    tokens.push_back(std::move(token));
    padded = true;
  }
  return tokens;
}

void append_number(TextBuilder& builder, int64_t value, int width, bool padded) {
  char digits[20];
  int count = 0;
  bool negative = value < 0;
  uint64_t rest = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  do {
    digits[count++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (negative) builder.append('-');
  for (int i = count; padded && i < width; ++i) builder.append('0');
  while (count > 0) builder.append(digits[--count]);
}

void append_ordinal_ending(TextBuilder& builder, int64_t value, bool is_upper) {
  int64_t tens = std::abs(value) % 100;
  int64_t ones = tens >= 10 && tens < 20 ? 0 : tens % 10;
  constexpr std::array<std::string_view, 4> kEndings = {"th", "st", "nd", "rd"};
  for (char letter : kEndings[ones > 3 ? 0 : static_cast<size_t>(ones)]) builder.append(is_upper ? upper(letter) : letter);
}

void append_name(TextBuilder& builder, std::string_view name, const Token& token, size_t width) {
  for (char letter : name) {
    char changed = token.name_case == NameCase::Upper   ? upper(letter)
                   : token.name_case == NameCase::Lower ? static_cast<char>(std::tolower(static_cast<unsigned char>(letter)))
                                                        : letter;
    builder.append(changed);
  }
  for (size_t i = name.size(); token.padded && i < width; ++i) builder.append(' ');
}

// A timestamp split into its fields once for all patterns.
struct Moment {
  int64_t days;
  int64_t time;   // microseconds
  int64_t nanos;  // of the microsecond
  CivilDate date;
};

int64_t shown_iso_year(int64_t days) {
  int64_t year = iso_week(days).year;
  return year > 0 ? year : 1 - year;
}

void append_pattern(TextBuilder& builder, const Token& token, const Moment& moment) {
  int64_t year = moment.date.year > 0 ? moment.date.year : 1 - int64_t{moment.date.year};
  int64_t day_of_year = moment.days - days_from_civil(moment.date.year, 1, 1) + 1;
  int64_t hour = moment.time / kHourMicros;
  auto number = [&](int64_t value, int width) {
    append_number(builder, value, width, token.padded);
    if (token.is_ordinal) append_ordinal_ending(builder, value, token.is_upper_ordinal);
  };
  auto name = [&](std::string_view text, size_t width) { append_name(builder, text, token, width); };
  std::string_view month = kMonthNames[static_cast<size_t>(moment.date.month - 1)];
  std::string_view day = kDaysFromMonday[static_cast<size_t>(weekday_of(moment.days))];
  // AM and BC follow the case of the pattern; a capital first letter means upper case.
  Token marker = token;
  if (marker.name_case == NameCase::AsWritten) marker.name_case = NameCase::Upper;
  switch (token.pattern) {
    case Pattern::Literal: return builder.append(token.literal);
    case Pattern::YearWithComma:
      append_number(builder, year / 1'000, 1, true);
      builder.append(',');
      append_number(builder, year % 1'000, 3, true);
      if (token.is_ordinal) append_ordinal_ending(builder, year, token.is_upper_ordinal);
      return;
    case Pattern::Year4: return number(year, 4);
    case Pattern::Year3: return number(year % 1'000, 3);
    case Pattern::Year2: return number(year % 100, 2);
    case Pattern::Year1: return number(year % 10, 1);
    case Pattern::IsoYear: return number(shown_iso_year(moment.days), 4);
    case Pattern::IsoYear3: return number(shown_iso_year(moment.days) % 1'000, 3);
    case Pattern::IsoYear2: return number(shown_iso_year(moment.days) % 100, 2);
    case Pattern::IsoYear1: return number(shown_iso_year(moment.days) % 10, 1);
    case Pattern::Century: return number(moment.date.year > 0 ? (year + 99) / 100 : -((year + 99) / 100), 2);
    case Pattern::Quarter: return number((moment.date.month + 2) / 3, 1);
    case Pattern::Month: return number(moment.date.month, 2);
    case Pattern::MonthName: return name(month, 9);
    case Pattern::ShortMonth: return name(month.substr(0, 3), 3);
    case Pattern::RomanMonth: return append_name(builder, kRomanMonths[static_cast<size_t>(moment.date.month - 1)], marker, 4);
    case Pattern::JulianDay: return number(moment.days - kFirstDay, 1);
    case Pattern::Day: return number(moment.date.day, 2);
    case Pattern::DayOfYear: return number(day_of_year, 3);
    case Pattern::IsoDayOfYear: return number((iso_week(moment.days).week - 1) * 7 + weekday_of(moment.days) + 1, 3);
    case Pattern::DayOfWeek: return number(floor_modulo(moment.days + 4, 7) + 1, 1);
    case Pattern::IsoDayOfWeek: return number(weekday_of(moment.days) + 1, 1);
    case Pattern::DayName: return name(day, 9);
    case Pattern::ShortDay: return name(day.substr(0, 3), 3);
    case Pattern::IsoWeek: return number(iso_week(moment.days).week, 2);
    case Pattern::Week: return number((day_of_year - 1) / 7 + 1, 2);
    case Pattern::WeekOfMonth: return number((moment.date.day - 1) / 7 + 1, 1);
    case Pattern::Hour24: return number(hour, 2);
    case Pattern::Hour12: return number(hour % 12 == 0 ? 12 : hour % 12, 2);
    case Pattern::Minute: return number(moment.time / kMinuteMicros % 60, 2);
    case Pattern::Second: return number(moment.time / kSecondMicros % 60, 2);
    case Pattern::SecondOfDay: return number(moment.time / kSecondMicros, 1);
    case Pattern::Millisecond: return number(moment.time % kSecondMicros / 1'000, 3);
    case Pattern::Microsecond: return number(moment.time % kSecondMicros, 6);
    case Pattern::Fraction1: return number(moment.time % kSecondMicros / 100'000, 1);
    case Pattern::Fraction2: return number(moment.time % kSecondMicros / 10'000, 2);
    case Pattern::Fraction3: return number(moment.time % kSecondMicros / 1'000, 3);
    case Pattern::Fraction4: return number(moment.time % kSecondMicros / 100, 4);
    case Pattern::Fraction5: return number(moment.time % kSecondMicros / 10, 5);
    case Pattern::Fraction6: return number(moment.time % kSecondMicros, 6);
    case Pattern::Fraction7: return number(moment.time % kSecondMicros * 10 + moment.nanos / 100, 7);
    case Pattern::Fraction8: return number(moment.time % kSecondMicros * 100 + moment.nanos / 10, 8);
    case Pattern::Fraction9: return number(moment.time % kSecondMicros * kMicroNanos + moment.nanos, 9);
    case Pattern::HalfDay: return append_name(builder, hour < 12 ? "AM" : "PM", marker, 0);
    case Pattern::HalfDayDotted: return append_name(builder, hour < 12 ? "A.M." : "P.M.", marker, 0);
    case Pattern::Era: return append_name(builder, moment.date.year > 0 ? "AD" : "BC", marker, 0);
    case Pattern::EraDotted: return append_name(builder, moment.date.year > 0 ? "A.D." : "B.C.", marker, 0);
  }
}

}  // namespace

Column name_of_month(const FunctionCall& call) {
  return coded_names(call, kMonthNames, [](int64_t days) { return civil_from_days(days).month - 1; });
}

Column name_of_day(const FunctionCall& call) {
  return coded_names(call, kDaysFromMonday, [](int64_t days) { return weekday_of(days); });
}

Column format_dates(const FunctionCall& call) {
  ArgumentValues<int64_t> exact(call.arguments[0]);
  ArgumentValues<int64_t> micros(in_whole_microseconds(call.arguments[0]));
  const bool has_nanos = call.arguments[0].column.type().has_nanoseconds();
  ArgumentText formats(call.arguments[1]);
  std::vector<Token> tokens;
  bool constant = call.arguments[1].is_constant;
  if (constant) tokens = parse_format(formats[0]);
  return build_text(call, call.rows * 16, [&](int64_t row, TextBuilder& builder) {
    if (!constant) tokens = parse_format(formats[row]);
    int64_t days = days_of_micros(micros[row]);
    int64_t nanos = has_nanos ? floor_modulo(exact[row], kMicroNanos) : 0;
    Moment moment{days, micros[row] - days * kDayMicros, nanos, civil_from_days(days)};
    for (const Token& token : tokens) append_pattern(builder, token, moment);
  });
}

}  // namespace pistachio
