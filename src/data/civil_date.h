// Days since 1970-01-01 to and from year, month and day in the proleptic Gregorian calendar, counted in 400-year eras of 146,097 days that
// start on 1 March. Year 0 is 1 BC. For any day that 64 bits of microseconds reach and far beyond, unlike the faster calendar that
// expressions compute with. Pure functions.
#pragma once

#include <cstdint>

namespace pistachio::civil {

struct Date {
  int64_t year;
  int month;
  int day;
};

inline int64_t floor_divide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor != 0 && (value < 0) != (divisor < 0));
}

inline Date from_days(int64_t days) {
  days += 719468;
  int64_t era = floor_divide(days, 146097);
  int64_t day_of_era = days - era * 146097;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month_index = (5 * day_of_year + 2) / 153;
  int day = static_cast<int>(day_of_year - (153 * month_index + 2) / 5 + 1);
  int month = static_cast<int>(month_index < 10 ? month_index + 3 : month_index - 9);
  return {year_of_era + era * 400 + (month <= 2), month, day};
}

inline int64_t to_days(int64_t year, int month, int day) {
  year -= month <= 2;
  int64_t era = floor_divide(year, 400);
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

}  // namespace pistachio::civil
