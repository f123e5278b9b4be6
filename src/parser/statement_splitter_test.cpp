// Splitting scripts, and deciding whether an interactive prompt must read more.
#include "parser/statement_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

bool ends_open(std::string_view text) {
  StatementLines lines;
  lines.add(text);
  return lines.is_open();
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

// Line by line gives the same result as the whole text.
TEST(StatementSplitter, ReadsLineByLine) {
  const std::vector<std::string_view> kTexts[] = {
      {"select 1", "", "-- ; no", ";", "-- yes"},
      {"select 'a", "b;", "it''s", "c';"},
      {"select 'a'", "-- ' between", "  'b;", "';"},
      {"select E'a\\", "';", "\\';", "';"},
      {"select U&\"a;", "b\"\"", "\";"},
      {"select $a$ ;", "$$;", "$b$;", "$a$;"},
      {"select 1; /* a", "/* ; b */", "c", "*/ -- d", "; /*", "*/"},
      {"/* a;", "*/ ;", "select", "$", "1;", ";", "'"},
  };
  for (const std::vector<std::string_view>& text : kTexts) {
    StatementLines lines;
    std::string whole;
    for (std::string_view line : text) {
      lines.add(line);
      whole += std::string(line) + "\n";
      EXPECT_EQ(lines.text(), whole);
      EXPECT_EQ(lines.is_open(), ends_open(whole)) << whole;
    }
    lines.clear();
    EXPECT_FALSE(lines.is_open());
    EXPECT_EQ(lines.text(), "");
  }
}

}  // namespace
}  // namespace pistachio
