#include "data/scalar_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace pistachio {
namespace {

std::string round_trip(LogicalType type, std::string_view text) {
  return parse_constant(type, text).value.to_string();
}

TEST(ScalarValueTest, ParsesAndPrintsEachType) {
  EXPECT_EQ(round_trip(TypeKind::BigInt, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip(LogicalType::decimal(15, 2), "-0.5"), "-0.50");
  EXPECT_EQ(round_trip(LogicalType::decimal(38, 0), "99999999999999999999999999999999999999"), "99999999999999999999999999999999999999");
  EXPECT_EQ(round_trip(LogicalType::decimal(15, 2), "1e3"), "1000.00");
  EXPECT_EQ(round_trip(TypeKind::Date, "1969-12-31"), "1969-12-31");
  EXPECT_EQ(parse_constant(TypeKind::Date, "1992-01-01").value.integer, 8035);
  EXPECT_EQ(round_trip(TypeKind::Timestamp, "1960-02-29 23:59:59.5"), "1960-02-29 23:59:59.5");
  EXPECT_EQ(round_trip(TypeKind::TimestampTz, "2024-02-29T00:00:00Z"), "2024-02-29 00:00:00+00");
  EXPECT_EQ(round_trip(TypeKind::Timestamp, "0044-03-15 06:27:28 BC"), "0044-03-15 06:27:28 BC");
  EXPECT_EQ(round_trip(TypeKind::Date, "0001-12-31 BC"), "0001-12-31 BC");
  EXPECT_EQ(parse_constant(TypeKind::Date, "0001-12-31 BC").value.integer + 1, parse_constant(TypeKind::Date, "0001-01-01").value.integer);
  EXPECT_EQ(round_trip(TypeKind::Time, "12:34"), "12:34:00");
  EXPECT_EQ(round_trip(TypeKind::Real, "2.2441406"), "2.2441406");
  EXPECT_EQ(round_trip(TypeKind::Boolean, "true"), "true");
  EXPECT_EQ(round_trip(TypeKind::Double, "1e400"), "inf");
}

TEST(ScalarValueTest, ConstantsBetweenValuesGiveTheLowerNeighbour) {
  ParsedConstant between = parse_constant(TypeKind::Integer, "3.5");
  EXPECT_FALSE(between.exact);
  EXPECT_EQ(between.value.integer, 3);
  EXPECT_EQ(parse_constant(TypeKind::Integer, "-3.5").value.integer, -4);
  EXPECT_EQ(parse_constant(LogicalType::decimal(15, 2), "0.001").value.integer, 0);
  EXPECT_TRUE(parse_constant(TypeKind::Integer, "3.000").exact);
  EXPECT_FALSE(parse_constant(TypeKind::Date, "1992-01-01 12:00:00").exact);
}

TEST(ScalarValueTest, ConstantsBeyondTheRangeSayWhichSide) {
  EXPECT_TRUE(parse_constant(TypeKind::TinyInt, "128").above);
  EXPECT_TRUE(parse_constant(TypeKind::TinyInt, "-129").below);
  EXPECT_FALSE(parse_constant(TypeKind::TinyInt, "-128").below);
  EXPECT_TRUE(parse_constant(TypeKind::BigInt, "1e30").above);
  EXPECT_TRUE(parse_constant(LogicalType::decimal(38, 0), "1e38").above);
}

TEST(ScalarValueTest, RefusesWhatIsNoValue) {
  EXPECT_THROW(parse_constant(TypeKind::Integer, "12x"), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Integer, ""), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Date, "1995-02-30"), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Date, "yesterday"), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Timestamp, "1995-01-01 25:00:00"), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Boolean, "perhaps"), UserError);
}

TEST(ScalarValueTest, OrdersNaNLastAndTextByBytes) {
  ScalarValue nan = ScalarValue::of_floating(TypeKind::Double, NAN);
  ScalarValue infinity = ScalarValue::of_floating(TypeKind::Double, INFINITY);
  EXPECT_TRUE(compare(nan, infinity) > 0);
  EXPECT_TRUE(compare(nan, nan) == 0);
  EXPECT_TRUE(compare(ScalarValue::of_text(TypeKind::Varchar, "\xc3"), ScalarValue::of_text(TypeKind::Varchar, "z")) > 0);
}

}  // namespace
}  // namespace pistachio
