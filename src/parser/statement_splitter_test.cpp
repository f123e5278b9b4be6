// Splitting scripts, and telling an interactive prompt whether to read on.
#include "parser/statement_splitter.h"

#include <gtest/gtest.h>

#include <string>

namespace pistachio {
namespace {

std::string split(std::string_view text) {
  std::string result;
  for (const StatementText& statement : split_statements(text)) {
    EXPECT_EQ(text.substr(static_cast<size_t>(statement.offset), statement.text.size()), statement.text);
    result += "[" + std::string(statement.text) + "]";
  }
  return result;
}

TEST(StatementSplitter, CutsAtSemicolonsOutsideQuotes) {
  EXPECT_EQ(split("select 1; select 2"), "[select 1][select 2]");
  EXPECT_EQ(split("  select ';' ;; select \";\" ;"), "[select ';'][select \";\"]");
  EXPECT_EQ(split("select E'\\';', $a$;$a$ -- ;\n; select /* ; /* ; */ ; */ 2"), "[select E'\\';', $a$;$a$][select /* ; /* ; */ ; */ 2]");
  EXPECT_EQ(split("select 'it''s; fine'; x"), "[select 'it''s; fine'][x]");
}

TEST(StatementSplitter, LeavesOutEmptyPieces) {
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split(" ; ; -- nothing\n /* at all */ ;"), "");
}

TEST(StatementSplitter, KeepsTheUnfinishedRest) {
  EXPECT_EQ(split("select 1; select 'a; b"), "[select 1][select 'a; b]");
  EXPECT_EQ(split("'a"), "['a]");
}

TEST(StatementSplitter, KnowsWhetherMoreMustFollow) {
  EXPECT_FALSE(ends_open(""));
  EXPECT_FALSE(ends_open("  -- comment"));
  EXPECT_FALSE(ends_open("select 1;"));
  EXPECT_FALSE(ends_open("select 1; -- done"));
  EXPECT_FALSE(ends_open("select ';';"));
  EXPECT_TRUE(ends_open("select 1"));
  EXPECT_TRUE(ends_open("select 1; select"));
  EXPECT_TRUE(ends_open("select 'a;"));
  EXPECT_TRUE(ends_open("select \"a;"));
  EXPECT_TRUE(ends_open("select $$a;"));
  EXPECT_TRUE(ends_open("select 1; /* not yet;"));
  EXPECT_TRUE(ends_open("select E'\\';"));
}

}  // namespace
}  // namespace pistachio
