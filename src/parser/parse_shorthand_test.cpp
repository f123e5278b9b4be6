// Other engines' shorthand: what it stands for, and that errors point into the user's text.
#include <gtest/gtest.h>

#include "parser/parse_harness.h"

namespace pistachio {
namespace {

TEST(ParseShorthand, FromMayComeFirst) {
  EXPECT_EQ(canonical("from t"), "SELECT * FROM t");
  EXPECT_EQ(canonical("from t select a, b where c order by 1"), "SELECT a, b FROM t WHERE c ORDER BY 1");
  EXPECT_EQ(canonical("from t where a limit 2"), "SELECT * FROM t WHERE a LIMIT 2");
  EXPECT_EQ(canonical("from (from t select a) select a union all from u"),
            canonical("select a from (select a from t) union all select * from u"));
  EXPECT_EQ(canonical("with q as (from t) from q select a"), canonical("with q as (select * from t) select a from q"));
  EXPECT_EQ(canonical("create table c as from t"), canonical("create table c as select * from t"));
  EXPECT_EQ(canonical("insert into c from t select a"), canonical("insert into c select a from t"));
  EXPECT_EQ(canonical("explain analyze from 'file'"), canonical("explain analyze select * from 'file'"));
  EXPECT_EQ(canonical("select extract(year from d), trim(from x), a is distinct from b from t"),
            "SELECT extract('year' FROM d), btrim(x), (a IS DISTINCT FROM b) FROM t");
}

TEST(ParseShorthand, PositionsBehindLeadingFromAreTheUsers) {
  expect_failure_at_mark("from t select a, ^)", "syntax error at or near \")\"");
  expect_failure_at_mark("from t select a where b ^c d", "syntax error at or near \"c\"");
  expect_failure_at_mark("from t select ^$1", "A parameter ($1) is not supported");
}

TEST(ParseShorthand, AllColumns) {
  EXPECT_EQ(canonical("select a from t group by all having b order by all desc"), "SELECT a FROM t GROUP BY ALL HAVING b ORDER BY * DESC");
  EXPECT_EQ(canonical("select a from t order by * nulls first"), "SELECT a FROM t ORDER BY * NULLS FIRST");
  EXPECT_EQ(canonical("select all a from t union all select a from t"), "(SELECT a FROM t) UNION ALL (SELECT a FROM t)");
}

TEST(ParseShorthand, ChangedStars) {
  EXPECT_EQ(canonical("select * exclude (a, t.b) replace (c + 1 as c) rename (d as e) from t"),
            "SELECT * EXCLUDE (a, t.b) REPLACE ((c + 1) AS c) RENAME (d AS e) FROM t");
  EXPECT_EQ(canonical("select t.* exclude a, b from t"), "SELECT t.* EXCLUDE (a), b FROM t");
  EXPECT_EQ(canonical("select a * exclude from t"), "SELECT (a * exclude) FROM t");
  EXPECT_EQ(canonical("select a * replace(b, 'x', 'y') from t"), "SELECT (a * replace(b, 'x', 'y')) FROM t");
  EXPECT_EQ(canonical("select min(columns('a.*')), columns(* exclude (a)) + 1, columns(['a', 'b']) from t"),
            "SELECT min(COLUMNS('a.*')), (COLUMNS(* EXCLUDE (a)) + 1), COLUMNS(['a', 'b']) FROM t");
  expect_failure_at_mark("select ^columns(1) from t", "COLUMNS takes *, a pattern or a list of names");
  expect_failure_at_mark("select * exclude (^1) from t", "EXCLUDE needs names of columns");
}

TEST(ParseShorthand, AliasesBeforeWhatTheyName) {
  EXPECT_EQ(canonical("select x: a + 1, y: left(b, 2) from z: t left join u on c"),
            canonical("select a + 1 as x, left(b, 2) as y from t as z left join u on c"));
  EXPECT_EQ(canonical("select a::text from t"), "SELECT CAST(a AS text) FROM t");
}

TEST(ParseShorthand, TrailingCommasAndDigitSeparators) {
  EXPECT_EQ(canonical("select a, b, from t group by a, b, order by a,"), "SELECT a, b FROM t GROUP BY a, b ORDER BY a");
  EXPECT_EQ(canonical("select 1_000_000, 1_0.2_5, -2_147_483_648"), canonical("select 1000000, 10.25, -2147483648"));
  expect_failure_at_mark("select ^, from t", "syntax error at or near \",\"");
}

TEST(ParseShorthand, GroupingSets) {
  EXPECT_EQ(canonical("select 1 from t group by rollup (a, b)"), "SELECT 1 FROM t GROUP BY GROUPING SETS ((), (a), (a, b))");
  EXPECT_EQ(canonical("select 1 from t group by a, cube (b, c)"),
            "SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b, c), (a, b), (a, c), (a))");
  EXPECT_EQ(canonical("select 1 from t group by grouping sets ((a, b), rollup (c), ())"),
            "SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b), (), (c), ())");
  expect_failure_at_mark("select 1 from t group by ^cube (a, b, c, d, e, f, g, h, i, j, k, l, m)",
                         "GROUP BY has more than 4096 grouping sets");
}

TEST(ParseShorthand, ChangesOfTables) {
  EXPECT_EQ(canonical("begin; start transaction; commit; rollback; truncate a, b.c; create schema s; drop schema s; drop index i"),
            "BEGIN; BEGIN; COMMIT; ROLLBACK; TRUNCATE a, b.c; CREATE SCHEMA s; DROP SCHEMA s; DROP INDEX i");
  EXPECT_EQ(canonical("create table t (a int primary key, b text default 'x' check (b <> ''), unique (a, b))"),
            "CREATE TABLE t (a integer, b text DEFAULT 'x', PRIMARY KEY(a), UNIQUE(a, b), CHECK ((b <> '')))");
  expect_failure_at_mark("update t set (^a, b) = (1, 2)", "(a, b) = ... in UPDATE is not supported");
  expect_failure_at_mark("insert into t values (1) ^on conflict do nothing", "ON CONFLICT is not supported");
}

}  // namespace
}  // namespace pistachio
