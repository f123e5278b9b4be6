#include <gtest/gtest.h>

#include <random>

#include "data/calendar.h"
#include "expr/date_fields.h"
#include "expr/function_harness.h"

namespace pistachio {
namespace {

using namespace function_harness;

TEST(Calendar, CountsDayByDay) {
  // From 2000-01-01 both ways through two eras of 400 years, against a calendar that only knows the next day.
  for (int direction : {1, -1}) {
    int64_t year = 2000;
    int64_t month = 1;
    int64_t day = 1;
    int64_t days = 10'957;
    for (int64_t step = 0; step < 2 * 146'097; ++step, days += direction) {
      CivilDate date = civil_from_days(days);
      ASSERT_TRUE(date.year == year && date.month == month && date.day == day) << days;
      ASSERT_EQ(days_from_civil(year, month, day), days);
      day += direction;
      if (day == 0) {
        month = month == 1 ? 12 : month - 1;
        year -= month == 12;
        day = days_in_month(year, month);
      } else if (day > days_in_month(year, month)) {
        day = 1;
        month = month == 12 ? 1 : month + 1;
        year += month == 1;
      }
    }
  }
}

TEST(Calendar, HoldsForAllDaysOf32Bits) {
  std::mt19937_64 random(3);
  auto check_day = [](int64_t days) {
    CivilDate date = civil_from_days(days);
    ASSERT_EQ(days_from_civil(date.year, date.month, date.day), days);
    ASSERT_TRUE(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= days_in_month(date.year, date.month)) << days;
    CivilDate later = civil_from_days(days - 146'097);  // an era earlier
    ASSERT_TRUE(later.year == date.year - 400 && later.month == date.month && later.day == date.day) << days;
  };
  for (int64_t days : {int64_t{INT32_MIN} + 146'097, int64_t{INT32_MAX}, int64_t{0}, int64_t{-1}}) check_day(days);
  for (int round = 0; round < 1'000'000; ++round) {
    check_day(int64_t{INT32_MIN} + 146'097 + static_cast<int64_t>(random() % ((uint64_t{1} << 32) - 146'097)));
  }
  EXPECT_EQ(civil_from_days(INT32_MAX).year, 5'881'580);
  EXPECT_EQ(civil_from_days(INT32_MAX).month, 7);
  EXPECT_EQ(civil_from_days(INT32_MAX).day, 11);
  EXPECT_EQ(civil_from_days(INT32_MIN).year, -5'877'641);
  EXPECT_EQ(days_in_month(1900, 2), 28);
  EXPECT_EQ(days_in_month(2000, 2), 29);
}

void check_field(const char* field, const ScalarValue& value, const std::string& expected) {
  check(extract_function_name(*find_date_field(field)), {value}, expected);
}

TEST(DateFunctions, ExtractFields) {
  ScalarValue moment = timestamp("2001-02-16 20:38:40.12");
  check_field("century", timestamp("2000-12-16 12:21:13"), "20");
  check_field("century", moment, "21");
  check_field("day", moment, "16");
  check_field("decade", moment, "200");
  check_field("dow", moment, "5");
  check_field("doy", moment, "47");
  check_field("epoch", moment, "982355920.120000");
  check_field("hour", moment, "20");
  check_field("isodow", timestamp("2001-02-18 20:38:40"), "7");
  check_field("dow", timestamp("2001-02-18 20:38:40"), "0");
  check_field("isoyear", date("2006-01-01"), "2005");
  check_field("isoyear", date("2006-01-02"), "2006");
  check_field("week", date("2005-01-01"), "53");
  check_field("week", date("2006-01-01"), "52");
  check_field("week", date("2012-12-31"), "1");
  check_field("week", moment, "7");
  check_field("microseconds", time_of_day("17:12:28.5"), "28500000");
  check_field("milliseconds", time_of_day("17:12:28.5"), "28500");
  check_field("second", time_of_day("17:12:28.5"), "28.500000");
  check_field("second", moment, "40.120000");
  check_field("millennium", moment, "3");
  check_field("minute", moment, "38");
  check_field("month", moment, "2");
  check_field("quarter", moment, "1");
  check_field("quarter", date("2024-12-31"), "4");
  check_field("year", date("2024-02-29"), "2024");
  check_field("doy", date("2024-12-31"), "366");
  check_field("epoch", date("1970-01-02"), "86400.000000");
  check_field("epoch", time_of_day("01:00:00"), "3600.000000");
  check_field("year", parse_value(TypeKind::TimestampTz, "1999-12-31 23:59:59+00"), "1999");
  // Days before 1970 start at midnight too.
  check_field("hour", timestamp("1969-12-31 23:59:59.5"), "23");
  check_field("second", timestamp("1969-12-31 23:59:59.5"), "59.500000");
  check_field("day", timestamp("1969-12-31 23:59:59.5"), "31");
}

TEST(DateFunctions, ExtractBeforeChrist) {
  check_field("year", date("0044-03-15 BC"), "-44");
  check_field("isoyear", date("0044-03-15 BC"), "-44");
  check_field("century", date("0101-12-31 BC"), "-2");
  check_field("century", date("0100-12-31 BC"), "-1");
  check_field("century", date("0001-12-31 BC"), "-1");
  check_field("century", date("0001-01-01"), "1");
  check_field("century", date("1900-12-31"), "19");
  check_field("century", date("1901-01-01"), "20");
  check_field("decade", date("0010-01-01"), "1");
  check_field("decade", date("0009-12-31"), "0");
  check_field("decade", date("0001-01-01 BC"), "0");
  check_field("decade", date("0002-12-31 BC"), "-1");
  check_field("decade", date("0011-01-01 BC"), "-1");
  check_field("decade", date("0012-12-31 BC"), "-2");
  check_field("millennium", date("0001-12-31 BC"), "-1");
  check_field("millennium", date("0001-01-01"), "1");
  check_field("millennium", date("1000-12-31"), "1");
  check_field("millennium", date("1001-01-01"), "2");
  check_field("millennium", date("2000-12-31"), "2");
}

TEST(DateFunctions, ExtractFromIntervals) {
  check_field("month", interval("2 years 13 months"), "1");
  check_field("year", interval("2 years 13 months"), "3");
  check_field("day", interval("40 days 1 hour"), "40");
  check_field("hour", interval("80 minutes"), "1");
  check_field("minute", interval("80 minutes"), "20");
  check_field("hour", interval("100 hours"), "100");
  check_field("hour", interval("-80 minutes"), "-1");
  check_field("second", interval("-1.5 seconds"), "-1.500000");
  check_field("epoch", interval("5 days 3 hours"), "442800.000000");
  check_field("epoch", interval("1 year"), "31557600.000000");
  check_field("epoch", interval("1 month"), "2592000.000000");
  check_field("quarter", interval("4 months"), "2");
  check_field("decade", interval("25 years"), "2");
  check_refused("extract dow", {interval("1 day")});
  check_refused("extract year", {time_of_day("01:00:00")});
  check_refused("extract hour", {date("2000-01-01")});
}

TEST(DateFunctions, ExtractByName) {
  for (const char* name : {"extract", "date_part"}) {
    check(name, {text("year"), date("1995-03-15")}, "1995");
    check(name, {text("YEARS"), date("1995-03-15")}, "1995");
    EXPECT_THROW(make_call(name, {Expression::constant(text("fortnight")), Expression::constant(date("1995-03-15"))}), UserError);
  }
  Column names = column_of_values(TypeKind::Varchar, {text("year"), text("day"), text("month")});
  Column days = repeat_value(date("1995-03-15"), 3);
  ExpressionPtr call = make_call("extract", {Expression::column({0}, TypeKind::Varchar), Expression::column({1}, TypeKind::Date)});
  Column result = ExpressionEvaluator({call}, {{0}, {1}}).evaluate(Chunk({names, days}, 3))[0];
  EXPECT_EQ(value_at(result, 0).to_string(), "1995");
  EXPECT_EQ(value_at(result, 1).to_string(), "15");
  EXPECT_EQ(value_at(result, 2).to_string(), "3");
}

TEST(DateFunctions, FieldFunctions) {
  ScalarValue moment = timestamp("2001-02-16 20:38:40.12");
  const std::pair<const char*, const char*> expected[] = {{"year", "2001"},         {"month", "2"},      {"day", "16"},
                                                          {"hour", "20"},           {"minute", "38"},    {"second", "40"},
                                                          {"millisecond", "40120"}, {"quarter", "1"},    {"week", "7"},
                                                          {"weekofyear", "7"},      {"dayofweek", "5"},  {"isodow", "5"},
                                                          {"dayofyear", "47"},      {"isoyear", "2001"}, {"decade", "200"},
                                                          {"century", "21"},        {"millennium", "3"}, {"microsecond", "40120000"}};
  for (const auto& [name, result] : expected) {
    check(name, {moment}, result);
    check_type(name, {moment}, "BIGINT");
  }
  check("year", {date("1995-03-15")}, "1995");
  check_type("extract second", {moment}, "DECIMAL(8,6)");
  check_type("extract epoch", {moment}, "DECIMAL(22,6)");
}

void check_truncation(const char* unit, const char* value, const char* expected) {
  check("date_trunc", {text(unit), timestamp(value)}, expected);
}

TEST(DateFunctions, Truncate) {
  check_truncation("hour", "2001-02-16 20:38:40", "2001-02-16 20:00:00");
  check_truncation("year", "2001-02-16 20:38:40", "2001-01-01 00:00:00");
  check_truncation("minute", "2001-02-16 20:38:40.5", "2001-02-16 20:38:00");
  check_truncation("second", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40");
  check_truncation("milliseconds", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40.123");
  check_truncation("microseconds", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40.123456");
  check_truncation("day", "1969-12-31 23:59:59", "1969-12-31 00:00:00");
  check_truncation("week", "2004-02-29 15:44:17.71393", "2004-02-23 00:00:00");
  check_truncation("month", "2004-02-29 15:44:17", "2004-02-01 00:00:00");
  check_truncation("quarter", "2004-12-29 15:44:17", "2004-10-01 00:00:00");
  check_truncation("millennium", "1970-03-20 04:30:00", "1001-01-01 00:00:00");
  check_truncation("century", "1970-03-20 04:30:00", "1901-01-01 00:00:00");
  check_truncation("century", "2004-08-10 00:00:00", "2001-01-01 00:00:00");
  check_truncation("century", "0002-02-04 00:00:00", "0001-01-01 00:00:00");
  check_truncation("century", "0055-08-10 00:00:00 BC", "0100-01-01 00:00:00 BC");
  check_truncation("decade", "1993-12-25 00:00:00", "1990-01-01 00:00:00");
  check_truncation("decade", "0004-12-25 00:00:00", "0001-01-01 00:00:00 BC");
  check_truncation("decade", "0002-12-31 00:00:00 BC", "0011-01-01 00:00:00 BC");
  check("date_trunc", {text("month"), date("1995-03-15")}, "1995-03-01 00:00:00");
  check_type("date_trunc", {text("month"), date("1995-03-15")}, "TIMESTAMP");
  check("date_trunc", {text("hour"), interval("3 days 02:47:33")}, "3 days 02:00:00");
  check("date_trunc", {text("year"), interval("25 months 3 days")}, "2 years");
  check("date_trunc", {text("day"), interval("25 months 3 days 1 hour")}, "2 years 1 mon 3 days");
  check_error("date_trunc", {text("dow"), timestamp("2001-02-16 20:38:40")}, "dow");
  check_error("date_trunc", {text("week"), interval("1 day")}, "week");
  check_error("date_trunc", {text("year"), ScalarValue::of_integer(TypeKind::Timestamp, INT64_MIN)}, "out of range");
}

TEST(DateFunctions, DatesAndDays) {
  check("+", {date("2001-09-28"), integer(7)}, "2001-10-05");
  check("+", {integer(7), date("2001-09-28")}, "2001-10-05");
  check("-", {date("2001-10-01"), integer(7)}, "2001-09-24");
  check("-", {date("2001-10-01"), date("2001-09-28")}, "3");
  check("-", {date("2001-09-28"), date("2001-10-01")}, "-3");
  check_type("-", {date("2001-10-01"), date("2001-09-28")}, "INTEGER");
  check_error("+", {date("2001-10-01"), whole(INT64_MAX)}, "out of range");
  check_error("-", {date("2001-10-01"), whole(INT64_MIN)}, "out of range");
  check_error("-", {ScalarValue::of_integer(TypeKind::Date, INT32_MAX), ScalarValue::of_integer(TypeKind::Date, -1)}, "out of range");
  check_refused("+", {date("2001-10-01"), date("2001-10-01")});
  // An untyped literal next to a date is a date for minus, an interval for plus.
  ExpressionPtr literal = Expression::untyped(text("1994-01-01"), -1);
  ExpressionPtr day = Expression::constant(date("1994-03-01"));
  EXPECT_EQ(evaluate_constant(make_call("-", {day, literal})).to_string(), "59");
  ExpressionPtr month = Expression::untyped(text("1 month"), -1);
  EXPECT_EQ(evaluate_constant(make_call("+", {day, month})).to_string(), "1994-04-01 00:00:00");
}

TEST(DateFunctions, DatesAndIntervals) {
  check("+", {date("2001-09-28"), interval("1 hour")}, "2001-09-28 01:00:00");
  check("+", {interval("1 hour"), date("2001-09-28")}, "2001-09-28 01:00:00");
  check("+", {timestamp("2001-09-28 01:00:00"), interval("23 hours")}, "2001-09-29 00:00:00");
  check("-", {timestamp("2001-09-28 23:00:00"), interval("23 hours")}, "2001-09-28 00:00:00");
  check("+", {date("2001-01-31"), interval("1 month")}, "2001-02-28 00:00:00");
  check("+", {date("2000-01-31"), interval("1 month")}, "2000-02-29 00:00:00");
  check("-", {date("2001-03-31"), interval("1 month")}, "2001-02-28 00:00:00");
  check("-", {date("2000-02-29"), interval("1 year")}, "1999-02-28 00:00:00");
  check("-", {date("1998-12-01"), interval("90 days")}, "1998-09-02 00:00:00");
  check("+", {date("1994-01-01"), interval("1 year")}, "1995-01-01 00:00:00");
  check("+", {timestamp("2001-01-31 12:30:00"), interval("1 month 1 day 1 hour")}, "2001-03-01 13:30:00");
  check("-", {timestamp("1970-01-01 00:00:00"), interval("13 months 0.000001 seconds")}, "1968-11-30 23:59:59.999999");
  check("+", {date("0001-12-31 BC"), interval("1 day")}, "0001-01-01 00:00:00");
  check_type("+", {date("2001-09-28"), interval("1 day")}, "TIMESTAMP");
  check_type("+", {parse_value(TypeKind::TimestampTz, "1999-12-31 23:59:59+00"), interval("1 day")}, "TIMESTAMP WITH TIME ZONE");
  check_error("+", {timestamp("2001-09-28 01:00:00"), interval("1000000 years")}, "out of range");
  check_error("-", {ScalarValue::of_integer(TypeKind::Date, INT32_MIN), interval("178000000 years")}, "out of range");
  check_error("+", {ScalarValue::of_integer(TypeKind::Timestamp, INT64_MAX), interval("1 second")}, "out of range");
}

TEST(DateFunctions, TimesAndTimestamps) {
  check("+", {date("2001-09-28"), time_of_day("03:00:00")}, "2001-09-28 03:00:00");
  check("+", {time_of_day("03:00:00"), date("2001-09-28")}, "2001-09-28 03:00:00");
  check("-", {timestamp("2001-09-29 03:00:00"), timestamp("2001-07-27 12:00:00")}, "63 days 15:00:00");
  check("-", {timestamp("2001-07-27 12:00:00"), timestamp("2001-09-29 03:00:00")}, "-63 days -15:00:00");
  check("-", {timestamp("2001-09-29 03:00:00"), date("2001-09-29")}, "03:00:00");
  check("-", {time_of_day("05:00:00"), interval("2 hours")}, "03:00:00");
  check("-", {time_of_day("01:00:00"), interval("3 hours")}, "22:00:00");
  check("+", {time_of_day("01:00:00"), interval("23 hours 30 minutes")}, "00:30:00");
  check("+", {interval("49 hours"), time_of_day("01:00:00")}, "02:00:00");
  check("-", {time_of_day("05:00:00"), time_of_day("03:00:00")}, "02:00:00");
  check_error("-", {ScalarValue::of_integer(TypeKind::Timestamp, INT64_MAX), timestamp("1960-01-01 00:00:00")}, "out of range");
}

TEST(DateFunctions, Intervals) {
  check("+", {interval("1 day"), interval("1 hour")}, "1 day 01:00:00");
  check("-", {interval("1 month"), interval("1 hour")}, "1 mon -01:00:00");
  check("-", {interval("23 hours 1 month")}, "-1 mons -23:00:00");
  check("*", {interval("1 second"), integer(900)}, "00:15:00");
  check("*", {integer(21), interval("1 day")}, "21 days");
  check("*", {number(3.5), interval("1 hour")}, "03:30:00");
  check("*", {interval("1 month"), number(1.5)}, "1 mon 15 days");
  check("*", {interval("21 days"), decimal("3.5", 2, 1)}, "73 days 12:00:00");
  check("*", {interval("1 month 1 day"), number(-0.5)}, "-15 days -12:00:00");
  check("/", {interval("1 hour"), number(1.5)}, "00:40:00");
  check("/", {interval("1 month"), integer(3)}, "10 days");
  check("/", {interval("1 year"), integer(5)}, "2 mons 12 days");
  check_error("/", {interval("1 year"), integer(0)}, "division by zero");
  check_error("*", {interval("1 year"), number(1e12)}, "out of range");
  check_error("+", {interval("178000000 years"), interval("178000000 years")}, "out of range");
}

TEST(DateFunctions, Age) {
  check("age", {timestamp("2001-04-10 00:00:00"), timestamp("1957-06-13 00:00:00")}, "43 years 9 mons 27 days");
  check("age", {timestamp("1957-06-13 00:00:00"), timestamp("2001-04-10 00:00:00")}, "-43 years -9 mons -27 days");
  check("age", {date("2024-03-01"), date("2024-02-29")}, "1 day");
  check("age", {timestamp("2024-03-01 01:00:00"), timestamp("2024-01-31 02:00:00")}, "1 mon 23:00:00");
  check("age", {date("2024-01-01"), date("2024-01-01")}, "00:00:00");
  // Up to today.
  ScalarValue result = evaluate_constant(make_call("age", {Expression::constant(timestamp("1990-01-01 00:00:00"))}));
  EXPECT_GT(interval_parts(result).months, 12 * 35);
}

TEST(DateFunctions, Differences) {
  for (const char* name : {"date_diff", "datediff"}) {
    check(name, {text("day"), date("2024-02-28"), date("2024-03-01")}, "2");
    check(name, {text("month"), date("2024-01-31"), date("2024-02-01")}, "1");
    check(name, {text("year"), date("2023-12-31"), date("2024-01-01")}, "1");
    check(name, {text("quarter"), date("2024-01-01"), date("2023-12-31")}, "-1");
    check(name, {text("week"), date("2024-02-25"), date("2024-02-26")}, "1");
    check(name, {text("hour"), timestamp("2024-01-01 10:59:59"), timestamp("2024-01-01 11:00:00")}, "1");
    check(name, {text("minute"), timestamp("1969-12-31 23:59:59"), timestamp("1970-01-01 00:00:01")}, "1");
    check(name, {text("second"), date("2024-01-01"), timestamp("2024-01-02 00:00:05")}, "86405");
    check(name, {text("century"), date("2000-12-31"), date("2001-01-01")}, "1");
    check_error(name, {text("eon"), date("2000-12-31"), date("2001-01-01")}, "eon");
  }
}

TEST(DateFunctions, MakeDateAndTimestamp) {
  check("make_date", {integer(2013), integer(7), integer(15)}, "2013-07-15");
  check("make_date", {integer(-44), integer(3), integer(15)}, "0044-03-15 BC");
  check("make_date", {integer(2024), integer(2), integer(29)}, "2024-02-29");
  check_error("make_date", {integer(2023), integer(2), integer(29)}, "not a valid date");
  check_error("make_date", {integer(0), integer(1), integer(1)}, "not a valid date");
  check_error("make_date", {integer(2000), integer(13), integer(1)}, "not a valid date");
  check_error("make_date", {whole(INT64_MAX), integer(1), integer(1)}, "not a valid date");
  check("make_timestamp", {integer(2013), integer(7), integer(15), integer(8), integer(15), number(23.5)}, "2013-07-15 08:15:23.5");
  check_error("make_timestamp", {integer(2013), integer(7), integer(15), integer(25), integer(15), number(23.5)}, "not a valid time");
  check("to_timestamp", {integer(1284352323)}, "2010-09-13 04:32:03+00");
  check("to_timestamp", {number(-0.5)}, "1969-12-31 23:59:59.5+00");
  check_error("to_timestamp", {number(1e300)}, "out of range");
  check_error("to_timestamp", {number(std::nan(""))}, "out of range");
  check("last_day", {date("2024-02-10")}, "2024-02-29");
  check("last_day", {timestamp("2023-12-10 10:00:00")}, "2023-12-31");
  check_error("last_day", {ScalarValue::of_integer(TypeKind::Date, INT32_MAX)}, "out of range");
}

TEST(DateFunctions, Names) {
  check("monthname", {date("2024-02-29")}, "February");
  check("monthname", {timestamp("1969-12-31 23:59:59")}, "December");
  check("dayname", {date("2024-02-29")}, "Thursday");
  check("dayname", {date("1969-12-28")}, "Sunday");
}

TEST(DateFunctions, ToChar) {
  ScalarValue moment = timestamp("2002-04-20 17:31:12.66");
  check("to_char", {moment, text("HH12:MI:SS")}, "05:31:12");
  check("to_char", {moment, text("YYYY-MM-DD HH24:MI:SS.MS")}, "2002-04-20 17:31:12.660");
  check("to_char", {moment, text("US Q DDD D YY Y")}, "660000 2 110 7 02 2");
  check("to_char", {moment, text("Mon MON mon Dy DY dy")}, "Apr APR apr Sat SAT sat");
  check("to_char", {moment, text("Month|MONTH|FMmonth|")}, "April    |APRIL    |april|");
  check("to_char", {timestamp("2000-06-06 05:39:18"), text("Day, DD  HH12:MI:SS")}, "Tuesday  , 06  05:39:18");
  check("to_char", {timestamp("2000-06-06 05:39:18"), text("FMDay, FMDD  HH12:MI:SS")}, "Tuesday, 6  05:39:18");
  check("to_char", {moment, text("HH AM hh pm")}, "05 PM 05 pm");
  check("to_char", {moment, text("IYYY-\"W\"IW-ID")}, "2002-W16-6");
  check("to_char", {date("2024-01-05"), text("yyyy/mm/dd, é")}, "2024/01/05, é");
  check("to_char", {moment, text("")}, "");
  check("to_char", {moment, text("Y,YYY FMY,YYY Y,YYYth")}, "2,002 2,002 2,002nd");
  check("to_char", {date("0044-03-15 BC"), text("Y,YYY")}, "0,044");
  check("to_char", {date("2021-11-01"), text("DDth DDTH FMDDth MMth DDDth FMMonthth Thth")}, "01st 01ST 1st 11th 305th November Thth");
  check("to_char", {date("2022-12-13"), text("DDth FMDDTH MMth YYth CCth Q Qth")}, "13th 13TH 12th 22nd 21st 4 4th");
  check("to_char", {date("0044-03-15 BC"), text("YYYY BC")}, "0044 BC");
  check("to_char", {timestamp("2002-04-20 00:00:00"), text("HH12 HH24 SSSS")}, "12 00 0");
}

TEST(DateFunctions, Now) {
  for (const char* name : {"now", "current_timestamp", "localtimestamp", "current_date", "current_time", "localtime"}) {
    Column column = ExpressionEvaluator({make_call(name, {})}, {}).evaluate(Chunk({}, 5))[0];
    ASSERT_EQ(column.rows(), 5) << name;
    EXPECT_EQ(value_at(column, 0).to_string(), value_at(column, 4).to_string());
  }
  ScalarValue now = evaluate_constant(make_call("now", {}));
  EXPECT_GT(now.integer, timestamp("2024-01-01 00:00:00").integer);
  ScalarValue rounded = evaluate_constant(make_call("current_timestamp", {Expression::constant(integer(0))}));
  EXPECT_EQ(rounded.integer % 1'000'000, 0);
  EXPECT_EQ(make_call("current_date", {})->type().kind(), TypeKind::Date);
}

ScalarValue timestamp_ns(const char* value) {
  return parse_value(TypeKind::TimestampNs, value);
}

TEST(TimestampNs, FieldsAreNotRounded) {
  // Rounded to microseconds, this would be in the next year.
  ScalarValue last = timestamp_ns("2023-12-31 23:59:59.9999999");
  check_field("year", last, "2023");
  check_field("second", last, "59.999999900");
  check_field("milliseconds", last, "59999");
  check_field("microseconds", last, "59999999");
  check_field("nanoseconds", last, "59999999900");
  check_field("epoch", last, "1704067199.999999900");
  check_field("nanoseconds", timestamp("2023-12-31 23:59:59.5"), "59500000000");
  check_field("second", timestamp_ns("1969-12-31 23:59:59.999999999"), "59.999999999");
  check_field("nanoseconds", parse_value(TypeKind::TimeNs, "10:20:30.123456789"), "30123456789");
  check("second", {last}, "59");
  check("date_trunc", {text("second"), last}, "2023-12-31 23:59:59");
  check("date_trunc", {text("microsecond"), last}, "2023-12-31 23:59:59.999999");
  check("date_trunc", {text("year"), timestamp_ns("1677-09-21 00:12:43.145224192")}, "1677-01-01 00:00:00");
  check("monthname", {last}, "December");
  check("last_day", {last}, "2023-12-31");
  check("to_char", {last, text("YYYY-MM-DD HH24:MI:SS.FF9 US FF7 FF8")}, "2023-12-31 23:59:59.999999900 999999 9999999 99999990");
}

TEST(TimestampNs, IntervalsKeepNanoseconds) {
  ScalarValue moment = timestamp_ns("2024-01-31 12:34:56.123456789");
  check("+", {moment, interval("1 month 1 microsecond")}, "2024-02-29 12:34:56.123457789");
  check("-", {moment, interval("1 day 12 hours")}, "2024-01-30 00:34:56.123456789");
  check("+", {timestamp_ns("1677-09-21 00:12:43.145224192"), interval("0 seconds")}, "1677-09-21 00:12:43.145224192");
  check_error("+", {timestamp_ns("2262-04-11 23:47:16.854775807"), interval("1 microsecond")}, "out of range");
  check_error("-", {timestamp_ns("1677-09-21 00:12:43.145224192"), interval("1 month")}, "out of range");
}

TEST(TimestampNs, DifferencesAreRoundedToMicroseconds) {
  ScalarValue begin = timestamp_ns("2024-01-01 00:00:00");
  check("-", {timestamp_ns("2024-01-02 00:00:00.0000005"), begin}, "1 day 00:00:00.000001");
  check("-", {timestamp_ns("2024-01-01 00:00:00.000000499"), begin}, "00:00:00");
  check("-", {begin, timestamp_ns("2024-01-01 00:00:00.0000005")}, "-00:00:00.000001");
  check("-", {timestamp_ns("2262-04-11 23:47:16.854775807"), timestamp_ns("1677-09-21 00:12:43.145224192")},
        "213503 days 23:34:33.709552");
  check("date_diff", {text("nanosecond"), begin, timestamp_ns("2024-01-01 00:00:00.000000499")}, "499");
  check("date_diff", {text("microsecond"), timestamp_ns("2024-01-01 00:00:00.000000999"), timestamp_ns("2024-01-01 00:00:00.000001")}, "1");
  check("date_diff", {text("year"), begin, timestamp_ns("2024-12-31 23:59:59.999999999")}, "0");
  check("epoch_ns", {timestamp_ns("1969-12-31 23:59:59.999999999")}, "-1");
  check("epoch_ns", {timestamp("1970-01-01 00:00:01")}, "1000000000");
  check_error("epoch_ns", {timestamp("2300-01-01")}, "out of range");
}

}  // namespace
}  // namespace pistachio
