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

TEST(ScalarValueTest, UnderflowIsZero) {
  std::string zeros(400, '0');
  for (const std::string& text :
       {std::string("1e-400"), "0." + zeros + "1", zeros + "1.5E-4000", std::string("12345e-99999999999999999999")}) {
    EXPECT_EQ(parse_constant(TypeKind::Double, text).value.floating, 0) << text;
    EXPECT_EQ(parse_constant(TypeKind::Double, "-" + text).value.floating, 0) << text;
  }
  for (const std::string& text : {"1" + zeros, "0." + zeros + "1e+900", std::string("1e99999999999999999999")}) {
    EXPECT_EQ(parse_constant(TypeKind::Double, text).value.floating, INFINITY) << text;
    EXPECT_EQ(parse_constant(TypeKind::Double, "-" + text).value.floating, -INFINITY) << text;
  }
}

TEST(ScalarValueTest, ConstantsBetweenValuesRoundDown) {
  ParsedConstant between = parse_constant(TypeKind::Integer, "3.5");
  EXPECT_FALSE(between.exact);
  EXPECT_EQ(between.value.integer, 3);
  EXPECT_EQ(parse_constant(TypeKind::Integer, "-3.5").value.integer, -4);
  EXPECT_EQ(parse_constant(LogicalType::decimal(15, 2), "0.001").value.integer, 0);
  EXPECT_TRUE(parse_constant(TypeKind::Integer, "3.000").exact);
  EXPECT_FALSE(parse_constant(TypeKind::Date, "1992-01-01 12:00:00").exact);
}

TEST(ScalarValueTest, OutOfRangeConstantsReportTheSide) {
  EXPECT_TRUE(parse_constant(TypeKind::TinyInt, "128").above);
  EXPECT_TRUE(parse_constant(TypeKind::TinyInt, "-129").below);
  EXPECT_FALSE(parse_constant(TypeKind::TinyInt, "-128").below);
  EXPECT_TRUE(parse_constant(TypeKind::BigInt, "1e30").above);
  EXPECT_TRUE(parse_constant(TypeKind::Date, "9999999-01-01").above);
  EXPECT_TRUE(parse_constant(TypeKind::Date, "9999999-01-01 BC").below);
  EXPECT_FALSE(parse_constant(TypeKind::Date, "9999-12-31").above);
  LogicalType longest = LogicalType::decimal(38, 0);
  for (const char* text : {"1e38", "1e39", "2e38", "17e38", "1e9999", "340282366920938463463374607431768211457"}) {
    ParsedConstant above = parse_constant(longest, text);
    EXPECT_TRUE(above.above && !above.below) << text;
    ParsedConstant below = parse_constant(longest, std::string("-") + text);
    EXPECT_TRUE(below.below && !below.above) << text;
  }
  EXPECT_FALSE(parse_constant(longest, "-99999999999999999999999999999999999999").below);
}

TEST(ScalarValueTest, PrintedBytesRoundTrip) {
  EXPECT_EQ(parse_constant(TypeKind::Blob, "\\x6162").value.text, "ab");
  EXPECT_EQ(parse_constant(TypeKind::Blob, "\\x00fF").value.text, std::string("\0\xff", 2));
  EXPECT_EQ(parse_constant(TypeKind::Blob, "\\x").value.text, "");
  EXPECT_EQ(parse_constant(TypeKind::Blob, "x61").value.text, "x61");
  EXPECT_EQ(round_trip(TypeKind::Blob, "\\x6162"), "\\x6162");
  EXPECT_THROW(parse_constant(TypeKind::Blob, "\\x616"), UserError);
  EXPECT_THROW(parse_constant(TypeKind::Blob, "\\x6g"), UserError);
  EXPECT_EQ(parse_constant(TypeKind::Blob, "a\\\\\\000\\377b").value.text, std::string("a\\\0\xff"
                                                                                       "b",
                                                                                       5));
  for (const char* text : {"\\", "a\\b", "\\00", "\\400", "\\08a"}) EXPECT_THROW(parse_constant(TypeKind::Blob, text), UserError) << text;
  EXPECT_EQ(parse_constant(TypeKind::Varchar, "\\x61").value.text, "\\x61");
}

TEST(ScalarValueTest, NanosecondsAreKept) {
  for (const char* text : {"2024-01-01 12:34:56.123456789", "1969-12-31 23:59:59.999999999", "2024-01-01 12:34:56.1", "2024-01-01 00:00:00",
                           "1677-09-21 00:12:43.145224192", "2262-04-11 23:47:16.854775807"})
    EXPECT_EQ(round_trip(TypeKind::TimestampNs, text), text);
  EXPECT_EQ(round_trip(TypeKind::TimestampTzNs, "2024-01-01 12:34:56.000000001+02"), "2024-01-01 10:34:56.000000001+00");
  EXPECT_EQ(round_trip(TypeKind::TimestampNs, "2024-01-01 12:34:56.000000001+02"), "2024-01-01 12:34:56.000000001");
  EXPECT_EQ(round_trip(TypeKind::TimeNs, "23:59:59.999999999"), "23:59:59.999999999");
  EXPECT_EQ(static_cast<int64_t>(parse_constant(TypeKind::TimestampNs, "1969-12-31 23:59:59.999999999").value.integer), -1);
}

TEST(ScalarValueTest, ExcessDigitsRoundDown) {
  ParsedConstant micros = parse_constant(TypeKind::Timestamp, "1969-12-31 23:59:59.999999001");
  EXPECT_FALSE(micros.exact);
  EXPECT_EQ(static_cast<int64_t>(micros.value.integer), -1);
  EXPECT_TRUE(parse_constant(TypeKind::Timestamp, "2024-01-01 00:00:00.123456000").exact);
  ParsedConstant nanos = parse_constant(TypeKind::TimestampNs, "2024-01-01 00:00:00.1234567891");
  EXPECT_FALSE(nanos.exact);
  EXPECT_EQ(nanos.value.to_string(), "2024-01-01 00:00:00.123456789");
  EXPECT_FALSE(parse_constant(TypeKind::Date, "2024-01-01 00:00:00.000000001").exact);
  EXPECT_TRUE(parse_constant(TypeKind::TimestampNs, "2262-04-11 23:47:16.854775808").above);
  EXPECT_TRUE(parse_constant(TypeKind::TimestampNs, "1677-09-21 00:12:43.145224191").below);
}

TEST(ScalarValueTest, RejectsMalformedValues) {
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
