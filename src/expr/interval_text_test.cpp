#include "expr/interval_text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

std::string shown(std::string_view text, std::string_view fields = "") {
  return parse_interval(text, fields).to_string();
}

TEST(IntervalTextTest, ReadsUnitsClocksAndYears) {
  EXPECT_EQ(shown("1 year 2 months 3 days 04:05:06.7"), "1 year 2 mons 3 days 04:05:06.7");
  EXPECT_EQ(shown("-1-2 +3 -4:05"), "-1 years -2 mons +3 days -04:05:00");
  EXPECT_EQ(shown("1.5 months 0.5 weeks"), "1 mon 18 days 12:00:00");
  EXPECT_EQ(shown("90"), "00:01:30");
  EXPECT_EQ(shown("1d2h"), "1 day 02:00:00");
  EXPECT_EQ(shown("2 days ago"), "-2 days");
  EXPECT_EQ(shown("P1Y2M3DT4H5M6S"), "1 year 2 mons 3 days 04:05:06");
}

TEST(IntervalTextTest, FieldsSetUnitAndTruncate) {
  EXPECT_EQ(shown("90", "day"), "90 days");
  EXPECT_EQ(shown("1.5", "day"), "1 day");
  EXPECT_EQ(shown("2:03", "minute to second"), "00:02:03");
  EXPECT_EQ(shown("1 2", "day to hour"), "1 day 02:00:00");
  EXPECT_EQ(shown("-90 minutes", "hour"), "-01:00:00");
}

TEST(IntervalTextTest, KeepsMicrosecondsOfLargeIntervals) {
  EXPECT_EQ(interval_parts(parse_interval("9223372036854775807 us", "")).micros, INT64_MAX);
  EXPECT_EQ(shown("2562047788:00:54.775807"), "2562047788:00:54.775807");
  EXPECT_EQ(interval_parts(parse_interval("100000000000.000001 seconds", "")).micros, 100'000'000'000'000'001);
}

TEST(IntervalTextTest, RefusesOverflow) {
  for (std::string_view text : {"9999999999 hours", "2147483648 days", "178956971 years", "9223372036854775808 us", "1e9 days",
                                "2147483647 months 1 year", "1:60", "0-12"})
    EXPECT_THROW(parse_interval(text, ""), UserError) << text;
}

TEST(IntervalTextTest, RefusesNonsense) {
  for (std::string_view text : {"", "47.210 5", "1 day 2 days", "1 hour 2:03", "day", "1 ago", "1 2-3", "P", "P1", "P1H", "PT1D",
                                "1.2.3", "P1Y ", "1.days", "-.1 mons", "1day2h", "1 month+2 days", "1y-2d", "- day", "1 quarter"})
    EXPECT_THROW(parse_interval(text, ""), UserError) << text;
}

}  // namespace
}  // namespace pistachio
