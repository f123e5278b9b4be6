#include "base/error.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace pistachio {
namespace {

TEST(ErrorTest, DataErrorNamesItsLocation) {
  DataError error("page is cut short", {"a.parquet", 3, "price", 4096});
  EXPECT_EQ(error.message(), "a.parquet, row group 3, column price, offset 4096: page is cut short");
  EXPECT_EQ(error.location().row_group, 3);
  EXPECT_EQ(error.problem(), "page is cut short");
}

TEST(ErrorTest, UnknownPartsOfLocationAreOmitted) {
  EXPECT_EQ(DataError("no footer", {"a.parquet"}).message(), "a.parquet: no footer");
  EXPECT_EQ(DataError("too short", {.offset = 7}).message(), "offset 7: too short");
}

TEST(ErrorTest, UserErrorKeepsItsPosition) {
  EXPECT_EQ(UserError("no such column", 17).position(), 17);
  EXPECT_FALSE(UserError("no such setting").position().has_value());
}

TEST(CheckTest, PassesSilently) {
  EXPECT_NO_THROW(ENSURE_EQ(1 + 1, 2));
}

TEST(CheckTest, PrintsBothOperands) {
  int rows = 3;
  try {
    ENSURE_EQ(rows, 4);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("rows == 4 is false: 3 against 4"), std::string::npos) << error.message();
  }
}

TEST(CheckTest, EvaluatesOperandsOnce) {
  int calls = 0;
  ENSURE_EQ(++calls, 1);
  EXPECT_EQ(calls, 1);
}

TEST(CheckTest, AddsTheMessage) {
  try {
    ENSURE(false, "column {}", "price");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("column price"), std::string::npos);
  }
}

}  // namespace
}  // namespace pistachio
