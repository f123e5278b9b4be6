#include "results/distinct_names.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

std::vector<std::string> names_for(const std::vector<std::string>& names) {
  std::vector<ResultColumn> columns;
  for (const std::string& name : names) columns.push_back({name, TypeKind::BigInt});
  return distinct_names(columns);
}

using Names = std::vector<std::string>;

TEST(DistinctNamesTest, DifferentNamesStay) {
  EXPECT_EQ(names_for({}), Names());
  EXPECT_EQ(names_for({"a", "A", "b", ""}), (Names{"a", "A", "b", ""}));
}

TEST(DistinctNamesTest, RepeatedNamesAreNumbered) {
  EXPECT_EQ(names_for({"sum", "sum", "x", "sum"}), (Names{"sum", "sum_1", "x", "sum_2"}));
  EXPECT_EQ(names_for({"", ""}), (Names{"", "_1"}));
}

TEST(DistinctNamesTest, NumberedNamesYieldToNamesOfTheResult) {
  EXPECT_EQ(names_for({"a", "a", "a_1"}), (Names{"a", "a_2", "a_1"}));
  EXPECT_EQ(names_for({"a_1", "a", "a", "a_1"}), (Names{"a_1", "a", "a_2", "a_1_1"}));
}

}  // namespace
}  // namespace pistachio
