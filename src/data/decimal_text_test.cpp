#include "data/decimal_text.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

constexpr Int128 kLargest = 999;

CutDecimal cut(std::string_view text, int scale) {
  return cut_decimal(*read_decimal_text(text), scale, kLargest);
}

TEST(DecimalTextTest, ReadsDigitsWithoutLeadingZeros) {
  DecimalText number = *read_decimal_text("-0012.50e2");
  EXPECT_TRUE(number.is_negative);
  EXPECT_EQ(number.digits, "1250");
  EXPECT_EQ(number.point, 4);
  EXPECT_EQ(read_decimal_text("0.0015")->point, -2);
  EXPECT_EQ(read_decimal_text("0.000")->digits, "");
  EXPECT_EQ(read_decimal_text("1e99999999999999999999")->point, 1'000'001);
}

TEST(DecimalTextTest, RejectsMalformedNumbers) {
  for (std::string_view text : {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "1x", "--1", "1 2"})
    EXPECT_FALSE(read_decimal_text(text)) << text;
}

TEST(DecimalTextTest, TruncatesAtTheScale) {
  EXPECT_EQ(cut("12.3", 1).magnitude, Int128{123});
  EXPECT_TRUE(cut("12.300", 1).is_exact);
  EXPECT_FALSE(cut("12.34", 1).is_exact);
  EXPECT_FALSE(cut("12.34", 1).rounds_up);
  EXPECT_TRUE(cut("15e-1", 0).rounds_up);
  EXPECT_FALSE(cut("14.9e-1", 0).rounds_up);
  EXPECT_TRUE(cut("0.5", 0).rounds_up);
  EXPECT_FALSE(cut("0.09", 0).rounds_up);
  EXPECT_FALSE(cut("9e-3", 1).rounds_up);
}

TEST(DecimalTextTest, ReportsOverflow) {
  EXPECT_FALSE(cut("999", 0).is_too_large);
  EXPECT_FALSE(cut("999.9", 0).is_too_large);
  EXPECT_TRUE(cut("1000", 0).is_too_large);
  EXPECT_TRUE(cut("1e1000000", 0).is_too_large);
  EXPECT_FALSE(cut("0e1000000", 0).is_too_large);
}

}  // namespace
}  // namespace pistachio
