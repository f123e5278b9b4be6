#include "expr/floating_conversion.h"

#include <gtest/gtest.h>

#include <charconv>
#include <random>

#include "columns/scalar_access.h"
#include "expr/cast.h"
#include "expr/parse_value.h"

namespace pistachio {
namespace {

template <typename Number>
Number nearest(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Random decimals of one and two words convert to the same number as their digits.
TEST(FloatingConversionTest, DecimalsBecomeTheNearestNumber) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    int precision = 1 + static_cast<int>(random() % 38);
    LogicalType type = LogicalType::decimal(precision, static_cast<int>(random() % (static_cast<uint64_t>(precision) + 1)));
    Int128 value = ((Int128{static_cast<int64_t>(random())} << 63) | static_cast<Int128>(random() >> 1)) % power_of_ten(precision);
    ScalarValue decimal = ScalarValue::of_integer(type, value);
    std::string text = decimal.to_string();
    EXPECT_EQ(cast_value(decimal, TypeKind::Double).floating, nearest<double>(text)) << text;
    EXPECT_EQ(cast_value(decimal, TypeKind::Real).floating, nearest<float>(text)) << text;
  }
}

TEST(FloatingConversionTest, NumbersRoundByTheirPrintedDigits) {
  auto rounded = [](double number, int precision, int scale) {
    return cast_value(ScalarValue::of_floating(TypeKind::Double, number), LogicalType::decimal(precision, scale)).to_string();
  };
  EXPECT_EQ(rounded(1.115, 10, 2), "1.12");
  EXPECT_EQ(rounded(-0.285, 38, 2), "-0.29");
  EXPECT_EQ(rounded(0.49999999999999994, 18, 0), "0");
  EXPECT_EQ(rounded(18446744073709551616.0, 38, 0), "18446744073709551616");
  EXPECT_THROW(rounded(99.95, 3, 1), UserError);
  EXPECT_THROW(rounded(INFINITY, 38, 0), UserError);
}

}  // namespace
}  // namespace pistachio
