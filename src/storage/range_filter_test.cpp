#include "storage/range_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace pistachio {
namespace {

ScalarValue integer(int64_t value) {
  return ScalarValue::of_integer(TypeKind::Integer, value);
}
ScalarValue number(double value) {
  return ScalarValue::of_floating(TypeKind::Double, value);
}
ColumnFilter on_integers(const char* text) {
  return bind_filter(parse_range_filter(text), TypeKind::Integer);
}
ColumnFilter on_doubles(const char* text) {
  return bind_filter(parse_range_filter(text), TypeKind::Double);
}

TEST(RangeFilterTest, ParsesColumnOperatorAndConstant) {
  RangeFilter filter = parse_range_filter("  l_shipdate<=1995-01-01 ");
  EXPECT_EQ(filter.column, "l_shipdate");
  EXPECT_EQ(filter.comparison, Comparison::LessEqual);
  EXPECT_EQ(filter.constant, "1995-01-01");
  EXPECT_EQ(parse_range_filter("a <> 'it''s'").constant, "it's");
  EXPECT_EQ(parse_range_filter("\"odd name\" = ''").constant, "");
  EXPECT_EQ(parse_range_filter("a.b != -1").column, "a.b");
}

TEST(RangeFilterTest, QuotedNamesAndConstantsMayHoldOperators) {
  EXPECT_EQ(parse_range_filter("\"a<b\" >= '<='").column, "a<b");
  EXPECT_EQ(parse_range_filter("\"a<b\" >= '<='").comparison, Comparison::GreaterEqual);
  EXPECT_EQ(parse_range_filter("\"a<b\" >= '<='").constant, "<=");
  EXPECT_EQ(parse_range_filter("\"a \"\"b\"\"\"='null'").column, "a \"b\"");
  EXPECT_EQ(parse_range_filter("a = 'null'").constant, "null");
  EXPECT_EQ(parse_range_filter("a = 'x = 1 AND y = ''2'''").constant, "x = 1 AND y = '2'");
}

// On a text column each of these would otherwise be a constant that never matches.
TEST(RangeFilterTest, RejectsLikelyMistakesInConstants) {
  for (const char* text : {"a = 'PERU' AND b = 1", "a == 'PERU'", "a = 'PERU", "a = PERU'", "a = \"PERU\"", "a = NULL", "a <> null",
                           "a > > 5", "a = PERU AND b = 1", "a = 'it's'", "a = '", "a = '''", "\"a = 3", "a => 3"})
    EXPECT_THROW(parse_range_filter(text), UserError) << text;
}

TEST(RangeFilterTest, RejectsMalformedFilters) {
  for (const char* text : {"", "a", "a =", "= 3", "a ~ 3", "<", "\"a\" b = 3", "\"\" = 3"})
    EXPECT_THROW(parse_range_filter(text), UserError) << text;
}

TEST(RangeFilterTest, ConstantsBetweenAndBeyondValuesStayExact) {
  EXPECT_TRUE(matches(on_integers("a < 3.5"), integer(3)));
  EXPECT_FALSE(matches(on_integers("a < 3.5"), integer(4)));
  EXPECT_TRUE(matches(on_integers("a >= 3.5"), integer(4)));
  EXPECT_FALSE(matches(on_integers("a >= 3.5"), integer(3)));
  EXPECT_FALSE(matches(on_integers("a = 3.5"), integer(3)));
  EXPECT_TRUE(matches(on_integers("a <> 3.5"), integer(3)));
  EXPECT_TRUE(matches(on_integers("a < 99999999999"), integer(INT32_MAX)));
  EXPECT_FALSE(matches(on_integers("a > 99999999999"), integer(INT32_MAX)));
  EXPECT_TRUE(matches(on_integers("a > -99999999999"), integer(INT32_MIN)));
  EXPECT_FALSE(matches(on_integers("a <> 99999999999"), ScalarValue::null(TypeKind::Integer)));
}

TEST(RangeFilterTest, RangesThatCannotMatchAreFound) {
  EXPECT_FALSE(may_match(on_integers("a = 5"), integer(6), integer(9)));
  EXPECT_TRUE(may_match(on_integers("a = 6"), integer(6), integer(9)));
  EXPECT_FALSE(may_match(on_integers("a < 6"), integer(6), integer(9)));
  EXPECT_FALSE(may_match(on_integers("a > 9"), integer(6), integer(9)));
  EXPECT_FALSE(may_match(on_integers("a <> 6"), integer(6), integer(6)));
  EXPECT_TRUE(may_match(on_integers("a <> 6"), integer(6), integer(7)));
}

// Statistics omit NaN, which sorts above every number: a maximum is no upper bound.
TEST(RangeFilterTest, NaNMayHideAboveTheMaximum) {
  EXPECT_TRUE(may_match(on_doubles("a > 100"), number(1), number(2)));
  EXPECT_TRUE(may_match(on_doubles("a <> 1"), number(1), number(1)));
  EXPECT_TRUE(may_match(on_doubles("a = nan"), number(1), number(2)));
  EXPECT_FALSE(may_match(on_doubles("a < 1"), number(1), number(2)));
  EXPECT_FALSE(may_match(on_doubles("a = 3"), number(1), number(2)));
  EXPECT_TRUE(matches(on_doubles("a > 100"), number(NAN)));
}

}  // namespace
}  // namespace pistachio
