#include "readers/value_shapes.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "readers/moment_text.h"

namespace pistachio {
namespace {

std::string type_of(std::initializer_list<std::string_view> values, DateOrder order = DateOrder::YearFirst) {
  ValueShapes shapes;
  for (std::string_view value : values) shapes.add(value);
  return shapes.type(order).to_string();
}

TEST(ValueShapes, TypesWiden) {
  EXPECT_EQ(type_of({}), "VARCHAR");
  EXPECT_EQ(type_of({"1", "-5"}), "BIGINT");
  EXPECT_EQ(type_of({"1", "9223372036854775808"}), "DECIMAL(38,0)");
  EXPECT_EQ(type_of({"1", "2.5", "1e400"}), "VARCHAR");
  EXPECT_EQ(type_of({"1", "2.5", "-1e3"}), "DOUBLE");
  EXPECT_EQ(type_of({"true", "F", "no"}), "BOOLEAN");
  EXPECT_EQ(type_of({"true", "1"}), "VARCHAR");
  EXPECT_EQ(type_of({"2020-01-02", "2020/1/2"}), "DATE");
  EXPECT_EQ(type_of({"2020-01-02", "2020-01-02 10:11"}), "TIMESTAMP");
  EXPECT_EQ(type_of({"2020-01-02T10:11:12Z", "2020-01-02 10:11:12+01:30"}), "TIMESTAMP WITH TIME ZONE");
  EXPECT_EQ(type_of({"10:11", "1:02:03.5"}), "TIME");
  EXPECT_EQ(type_of({"31/12/2020"}, DateOrder::DayFirst), "DATE");
  EXPECT_EQ(type_of({"31/12/2020"}, DateOrder::MonthFirst), "VARCHAR");
}

TEST(ValueShapes, LookalikesAreText) {
  for (std::string_view value :
       {"007", "+5", "1_000", "0x10", "1,5", "25:00", "2020-13-01", "2021-02-29", "20-01-02", " x", "-", ".", "1-2", "2020-01-02T"})
    EXPECT_EQ(type_of({value}), "VARCHAR") << value;
}

TEST(MomentText, ZonesGiveUtc) {
  EXPECT_EQ(read_timestamp_text("1970-01-01 01:00:00+01", DateOrder::YearFirst)->micros, 0);
  EXPECT_EQ(read_timestamp_text("1969-12-31T23:30:00-00:30", DateOrder::YearFirst)->micros, 0);
  EXPECT_EQ(read_timestamp_text("1970-01-01 00:00:00.0000019", DateOrder::YearFirst)->micros, 1);
  EXPECT_FALSE(read_timestamp_text("1970-01-01 00:00:00+1", DateOrder::YearFirst));
}

}  // namespace
}  // namespace pistachio
