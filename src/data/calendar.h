// The proleptic Gregorian calendar in branchless integer arithmetic: days since 1970-01-01 to year, month, day and back, for every 32-bit
// day number and some beyond. Year 0 is 1 BC.
#pragma once

#include <cstdint>

namespace pistachio {

constexpr int64_t kSecondMicros = 1'000'000;
constexpr int64_t kMinuteMicros = 60 * kSecondMicros;
constexpr int64_t kHourMicros = 60 * kMinuteMicros;
constexpr int64_t kDayMicros = 24 * kHourMicros;

constexpr int64_t kMicroNanos = 1'000;
constexpr int64_t kSecondNanos = kSecondMicros * kMicroNanos;
constexpr int64_t kMinuteNanos = kMinuteMicros * kMicroNanos;
constexpr int64_t kDayNanos = kDayMicros * kMicroNanos;

// PostgreSQL's calendar: from Julian day 0, 4714-11-24 BC, to 5874897-12-31. Timestamps end where 64 bits of microseconds do, in 294247.
constexpr int64_t kFirstDay = -2'440'588;
constexpr int64_t kLastDay = 2'145'042'905;
constexpr int64_t kFirstMicros = kFirstDay * kDayMicros;

struct CivilDate {
  int32_t year;
  int32_t month;  // 1 to 12
  int32_t day;    // 1 to 31
};

constexpr int64_t floor_divide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

constexpr int64_t floor_modulo(int64_t value, int64_t divisor) {
  int64_t rest = value % divisor;
  return rest + (rest < 0 ? divisor : 0);
}

constexpr int64_t days_of_micros(int64_t micros) {
  return floor_divide(micros, kDayMicros);
}

// Years start in March, so that the leap day comes last; multiplications instead of divisions as in Neri and Schneider, "Euclidean affine
// functions and their application to calendar algorithms" (2022).
constexpr CivilDate civil_from_days(int64_t days) {
  constexpr uint64_t eras = 14'700;  // of 400 years, added so that all counts are positive
  uint64_t shifted = static_cast<uint64_t>(days + 719'468 + int64_t{146'097} * static_cast<int64_t>(eras));
  uint64_t quarters = 4 * shifted + 3;
  uint32_t century = static_cast<uint32_t>(quarters / 146'097);
  uint32_t day_of_century = static_cast<uint32_t>(quarters % 146'097) / 4;
  uint64_t product = uint64_t{2'939'745} * (4 * day_of_century + 3);
  uint32_t year_of_century = static_cast<uint32_t>(product >> 32);
  uint32_t day_of_year = static_cast<uint32_t>(product) / 2'939'745 / 4;
  uint32_t packed = 2'141 * day_of_year + 197'913;
  bool next_year = day_of_year >= 306;
  int32_t year = static_cast<int32_t>(100 * century + year_of_century) - static_cast<int32_t>(400 * eras) + next_year;
  int32_t month = static_cast<int32_t>(packed >> 16) - (next_year ? 12 : 0);
  int32_t day = static_cast<int32_t>((packed & 0xFFFF) / 2'141) + 1;
  return {year, month, day};
}

// Years up to 200 million; the month is 1 to 12, the day may be outside its month.
constexpr int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  constexpr int64_t eras = 500'000;
  int64_t shifted = year + eras * 400 - (month <= 2);
  int64_t era = shifted / 400;
  int64_t year_of_era = shifted % 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return (era - eras) * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

constexpr bool is_leap_year(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

constexpr int32_t days_in_month(int64_t year, int64_t month) {
  return month == 2 ? 28 + is_leap_year(year) : 30 + ((month + (month > 7)) & 1);
}

// Adds months, which may be negative; a day that the month does not have becomes its last one.
constexpr int64_t add_months(int64_t days, int64_t months) {
  CivilDate date = civil_from_days(days);
  int64_t count = int64_t{date.year} * 12 + date.month - 1 + months;
  int64_t year = floor_divide(count, 12);
  int64_t month = count - year * 12 + 1;
  int64_t last = days_in_month(year, month);
  return days_from_civil(year, month, date.day < last ? date.day : last);
}

// Monday is 0.
constexpr int64_t weekday_of(int64_t days) {
  return floor_modulo(days + 3, 7);
}

struct IsoWeek {
  int64_t year;
  int64_t week;
};

// A week belongs to the year of its Thursday.
constexpr IsoWeek iso_week(int64_t days) {
  int64_t thursday = days - weekday_of(days) + 3;
  int64_t year = civil_from_days(thursday).year;
  return {year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1};
}

}  // namespace pistachio
