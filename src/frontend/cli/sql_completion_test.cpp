#include "frontend/cli/sql_completion.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

std::vector<std::string> candidates(std::string_view line) {
  SqlCompletion completion([] { return std::vector<std::string>{"lineitem", "Mixed", "two words"}; });
  return completion.complete(line).candidates;
}

using Names = std::vector<std::string>;

TEST(SqlCompletionTest, KeywordsFollowTheCaseOfTheWord) {
  EXPECT_EQ(candidates("SEL"), Names{"SELECT"});
  EXPECT_EQ(candidates("sel"), Names{"select"});
  EXPECT_EQ(candidates("SELECT 1 whe"), (Names{"when", "where"}));
}

TEST(SqlCompletionTest, TablesAreQuotedIfNecessary) {
  EXPECT_EQ(candidates("SELECT * FROM linei"), Names{"lineitem"});
  EXPECT_EQ(candidates("SELECT * FROM mix"), Names{"\"Mixed\""});
  EXPECT_EQ(candidates("SELECT * FROM two"), Names{"\"two words\""});
}

TEST(SqlCompletionTest, FunctionsOpenTheirParenthesis) {
  EXPECT_EQ(candidates("SELECT bool_a"), Names{"bool_and("});
  EXPECT_EQ(candidates("SELECT 1 + octet"), Names{"octet_length("});
}

TEST(SqlCompletionTest, SettingsFollowSetResetAndShow) {
  EXPECT_EQ(candidates("SET memory"), Names{"memory_limit"});
  EXPECT_EQ(candidates("reset memory"), Names{"memory_limit"});
  EXPECT_EQ(candidates("SELECT 1; SHOW ru"), Names{"rules"});
  EXPECT_EQ(candidates("SET sel"), Names{});
  EXPECT_EQ(candidates("SET a = 1; sel"), Names{"select"});
}

TEST(SqlCompletionTest, NothingInsideQuotesCommentsOrWithoutWord) {
  EXPECT_EQ(candidates("SELECT 'sel"), Names{});
  EXPECT_EQ(candidates("SELECT \"sel"), Names{});
  EXPECT_EQ(candidates("SELECT "), Names{});
  EXPECT_EQ(candidates(""), Names{});
}

TEST(SqlCompletionTest, CommonBegin) {
  EXPECT_EQ(common_begin({}), "");
  EXPECT_EQ(common_begin({"one"}), "one");
  EXPECT_EQ(common_begin({"when", "where"}), "whe");
  EXPECT_EQ(common_begin({"a", "ab", "b"}), "");
}

}  // namespace
}  // namespace pistachio
