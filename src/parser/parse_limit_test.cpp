// Long and deep texts: what must work, what must be rejected, and deletion of trees on a small stack. Also random tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "base/large_stack.h"
#include "parser/parse_harness.h"
#include "parser/statement_splitter.h"

namespace pistachio {
namespace {

std::string repeated(std::string_view piece, int64_t count) {
  std::string result;
  result.reserve(piece.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result += piece;
  return result;
}

// Parses, writes and deletes on the smallest stack that threads can have.
void expect_parses_on_small_stack(const std::string& sql) {
  std::string message;
  std::vector<ast::Statement> statements;
  try {
    statements = parse_statements(sql);
  } catch (const UserError& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "") << sql.substr(0, 60);
  run_on_large_stack(int64_t{8} << 20, [&] {
    if (!statements.empty()) {
      EXPECT_GT(to_text(statements.front()).size(), 10'000u) << sql.substr(0, 60);
    }
    statements.clear();
  });
}

TEST(ParseLimit, LongChainsOfEveryKindWork) {
  constexpr int64_t terms = 10'000;
  for (const char* sign : {"+", "-", "*", "/", "%", "^", "||", " and ", " or ", ", "}) {
    expect_parses_on_small_stack("select a" + repeated(std::string(sign) + "a", terms - 1));
  }
  expect_parses_on_small_stack("select a from t where " + repeated("(a = 1) or ", terms) + "b");
  expect_parses_on_small_stack("select a from t where " + repeated("a like 'x' and ", terms) + "b");
  expect_parses_on_small_stack("select 1" + repeated(" union all select 1", terms));
  expect_parses_on_small_stack("select * from a" + repeated(" cross join a", terms));
  expect_parses_on_small_stack("select * from a" + repeated(" left join 'f' on a = b", terms));
  expect_parses_on_small_stack("select a" + repeated("::int", 3'900));
  expect_parses_on_small_stack("select " + repeated("not ", 3'900) + "a");
  expect_parses_on_small_stack("select a" + repeated(" is null", 3'900));
  expect_parses_on_small_stack("select " + repeated("- ", 3'900) + "a");
}

TEST(ParseLimit, LongListsWork) {
  expect_parses_on_small_stack("select a in (1" + repeated(",1", 100'000) + ")");
  expect_parses_on_small_stack("values (1)" + repeated(",(-1)", 100'000));
  expect_parses_on_small_stack("select a from t where a" + repeated(" and a", 100'000));
  expect_parses_on_small_stack("select case" + repeated(" when a then b", 50'000) + " end");
}

TEST(ParseLimit, DeepNestingWorksUpToTheLimit) {
  expect_parses_on_small_stack("select " + repeated("f(a+", 999) + repeated("a", 10'000) + repeated(")", 999));
  expect_parses_on_small_stack("select " + repeated("(select ", 900) + repeated("a", 10'000) + repeated(")", 900));
  expect_parses_on_small_stack("select * from " + repeated("(select * from ", 900) + repeated("t", 10'000) + repeated(") x", 900));
  expect_parses_on_small_stack("select " + repeated("case when a then ", 999) + repeated("a", 10'000) + repeated(" end", 999));
}

TEST(ParseLimit, LongerChainsAreRefused) {
  const std::string problem = "too many operators, joins or set operations in a row: more than 12000";
  EXPECT_EQ(failure_of("select a" + repeated("+a", 12'001)).message, problem);
  EXPECT_EQ(failure_of("select a" + repeated("+a", 400'000)).message, problem);
  EXPECT_EQ(failure_of("select 1" + repeated(" union all select 1", 12'001)).message, problem);
  EXPECT_EQ(failure_of("select * from a" + repeated(" cross join a", 12'001)).message, problem);
  // Chains within chains count together.
  const std::string chain = "a" + repeated("+a", 5'000);
  EXPECT_EQ(failure_of("select f(f(f(" + chain + ")" + repeated("+a", 5'000) + ")" + repeated("+a", 5'000) + ")").message, problem);
  EXPECT_EQ(failure_of("select a" + repeated("::int", 5'000)).message, "the statement is nested too deeply: more than 4000 levels");
}

TEST(ParseLimit, DeeperNestingIsRefused) {
  const std::string problem = "the statement is nested more than 1000 levels deep";
  EXPECT_EQ(failure_of("select " + repeated("(", 1'001) + "1" + repeated(")", 1'001)).message, problem);
  EXPECT_EQ(failure_of("select " + repeated("(", 1'001)).position, 7 + 1'000);
  EXPECT_EQ(failure_of("select " + repeated("case when ", 1'001)).message, problem);
  EXPECT_EQ(failure_of("select " + repeated("array[", 1'001)).message, problem);
  EXPECT_EQ(failure_of("select " + repeated("(", 5'000'000)).message, problem);
  // The stack of PostgreSQL's grammar overflows first.
  EXPECT_EQ(failure_of("select " + repeated("not ", 20'000) + "a").message, "the statement is nested too deeply: more than 4000 levels");
  EXPECT_EQ(failure_of("select " + repeated("- ", 20'000) + "a").message, "the statement is nested too deeply: more than 4000 levels");
  ParseLimits limits;
  limits.nesting = 3;
  EXPECT_EQ(failure_of("select (((1)))", limits).message, "no error");
  EXPECT_EQ(failure_of("select ((((1))))", limits).message, "the statement is nested more than 3 levels deep");
}

TEST(ParseLimit, LongTextsAreRefused) {
  const ParseFailure failure = failure_of(std::string((16 << 20) + 1, ' '));
  EXPECT_EQ(failure.message, "the text has 16777217 bytes; the limit is 16777216");
  EXPECT_EQ(failure_of(std::string(16 << 20, ' ')).message, "no error");
  EXPECT_EQ(failure_of("select 1" + repeated(",1", 1'000'000)).message, "the statement has more than 1000000 tokens");
  ParseLimits limits;
  limits.tokens = 4;
  EXPECT_EQ(failure_of("select 1; select 2, 3", limits).message, "no error");
  EXPECT_EQ(failure_of("select 1; select 2, 3 x", limits).position, 22);
}

TEST(ParseLimit, ManyThreadsParseAtOnce) {
  std::vector<std::thread> threads;
  std::array<bool, 8> fine{};
  for (size_t t = 0; t < fine.size(); ++t) {
    threads.emplace_back([&fine, t] {
      fine[t] = true;
      for (int i = 0; i < 50; ++i) {
        fine[t] = fine[t] && canonical(fmt::format("select {} + a from 'f{}'", i, t)) == fmt::format("SELECT ({} + a) FROM 'f{}'", i, t);
        fine[t] = fine[t] && failure_of(fmt::format("select {} frm x y", i)).message == "syntax error at or near \"x\"";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (bool one : fine) EXPECT_TRUE(one);
}

TEST(ParseLimit, CancelledParsingStops) {
  CancelSource cancelled;
  cancelled.cancel("enough");
  CancelSource late({}, std::chrono::steady_clock::now() - std::chrono::milliseconds(1));
  for (const CancelSource* source : {&cancelled, &late}) {
    EXPECT_THROW(parse_statements("select 1", {}, source->token()), Cancelled);
    EXPECT_THROW(parse_statements("select a" + repeated(" or a", 100'000), {}, source->token()), Cancelled);
  }
}

constexpr std::array<const char*, 118> soup = {
    "select", "from",  "where",     "group",   "by",      "order",    "limit",       "offset", "having",   "join",     "left",     "on",
    "using",  "union", "all",       "except",  "values",  "with",     "as",          "insert", "into",     "create",   "table",    "view",
    "drop",   "set",   "show",      "explain", "analyze", "describe", "desc",        "reset",  "to",       "distinct", "is",       "not",
    "null",   "and",   "or",        "in",      "between", "like",     "escape",      "case",   "when",     "then",     "else",     "end",
    "exists", "any",   "array",     "row",     "cast",    "extract",  "substring",   "trim",   "position", "for",      "interval", "date",
    "year",   "month", "over",      "filter",  "lateral", "natural",  "cross",       "only",   "rows",     "first",    "fetch",    "next",
    "ties",   "temp",  "recursive", "if",      "default", "cascade",  "(",           ")",      "(",        ")",        "[",        "]",
    ",",      ",",     ".",         ";",       "::",      "=",        "<>",          "+",      "-",        "-",        "*",        "/",
    "||",     "~",     "=>",        "a",       "b",       "\"C d\"",  "'f.parquet'", "''",     "E'\\n'",   "$$x$$",    "$1",       "0",
    "1",      "2.5",   "4GB",       "ä",       "int",     "x'f'",     "collate",     "true",   "--\n",     "/**/"};

// Any outcome but a crash or an InternalError is fine.
TEST(ParseFuzz, TokenSoupsNeverCrash) {
  std::mt19937_64 random(20240607);
  int64_t parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string sql = i % 2 == 0 ? "select " : "";
    const auto length = static_cast<int64_t>(random() % 24);
    for (int64_t j = 0; j < length; ++j) {
      sql += soup[random() % soup.size()];
      if (random() % 8 != 0) sql += ' ';
    }
    split_statements(sql);
    StatementLines().add(sql);
    try {
      for (const ast::Statement& statement : parse_statements(sql)) {
        to_text(statement);
        ++parsed;
      }
    } catch (const UserError& error) {
      ASSERT_TRUE(error.position().has_value()) << sql;
      ASSERT_GE(*error.position(), 0) << sql;
      ASSERT_LE(*error.position(), static_cast<int64_t>(sql.size())) << sql;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << sql;
    }
  }
  EXPECT_GT(parsed, 100);
}

// Mutations of real statements reach deeper into the converter than random tokens. What parses must round-trip through canonical text.
TEST(ParseFuzz, MutatedStatementsNeverCrash) {
  constexpr std::array<const char*, 8> seeds = {
      "select a, -5, count(*) filter (where b) from 'f.parquet' t join u using (x) where c like 'd' escape 'e' group by a limit 0",
      "with q(x) as materialized (select extract(year from d), case a when 1 then 2 else 3 end from t) select * from q, lateral (select 1) "
      "s",
      "select trim(both 'x' from y), substring(a from 1 for 2), position(a in b), interval '3' month, x::decimal(15, 2), row(1, 2) from t",
      "create or replace temp view v (a, b) as select distinct on (a) b from t union all values (1) order by 1 desc nulls last",
      "create temp table if not exists t (a int not null, b varchar(3), c double precision); insert into t (a, b) values (1, -2), (3, "
      "null)",
      "explain (analyze, format json) select a in (1, 2), b not in (select 1), c = any (array[1, 2]), d between symmetric 1 and 2 from t",
      "describe 'f.parquet'; set memory = 4GB; reset all; show tables; drop view if exists a.b, c; desc select 1",
      "select exists (select 1), a > all (select 2), (select 3), current_timestamp(3), coalesce(a, b), nullif(a, b), f(distinct a order by "
      "b)"};
  std::mt19937_64 random(7);
  int64_t parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string sql = seeds[random() % seeds.size()];
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % (sql.size() + 1);
      const size_t length = std::min<size_t>(random() % 8, sql.size() - at);
      const char* piece = soup[random() % soup.size()];
      if (random() % 3 == 0)
        sql.erase(at, length);
      else
        sql.insert(at, std::string(" ") + piece + " ");
    }
    try {
      for (const ast::Statement& statement : parse_statements(sql)) {
        ++parsed;
        const std::string text = to_text(statement);
        if (text.find(" OVER (...)") == std::string::npos) {
          ASSERT_EQ(canonical(text), text) << sql;
        }
      }
    } catch (const UserError& error) {
      ASSERT_TRUE(error.position().has_value()) << sql;
      ASSERT_GE(*error.position(), 0) << sql;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << sql;
    }
  }
  EXPECT_GT(parsed, 1'000);
}

}  // namespace
}  // namespace pistachio
