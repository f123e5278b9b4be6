// Queries and statements: text in, canonical text of the tree out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "parser/parse_harness.h"

namespace pistachio {
namespace {

TEST(ParseQuery, Clauses) {
  EXPECT_EQ(
      canonical(
          "select a as x, b y, c \"Z\" from t where d group by a, 2 having count(*) > 1 order by 1 desc nulls last, b asc nulls first, "
          "c limit 10 offset 5"),
      "SELECT a AS x, b AS y, c AS \"Z\" FROM t WHERE d GROUP BY a, 2 HAVING (count(*) > 1) ORDER BY 1 DESC NULLS LAST, b NULLS FIRST, c "
      "LIMIT 10 OFFSET 5");
  EXPECT_EQ(canonical("select distinct a from t; select distinct on (a, b) c from t; select all a from t"),
            "SELECT DISTINCT a FROM t; SELECT DISTINCT ON (a, b) c FROM t; SELECT a FROM t");
  EXPECT_EQ(canonical("select 1 limit all; select 1 limit null; select 1 fetch first 3 rows only; select 1 fetch next row only"),
            "SELECT 1; SELECT 1; SELECT 1 LIMIT 3; SELECT 1 LIMIT 1");
  EXPECT_EQ(canonical("select 1 from t group by (); select 1 from t group by (a, b), (), c; select 1 from t group by row(a, b)"),
            "SELECT 1 FROM t GROUP BY (); SELECT 1 FROM t GROUP BY a, b, c; SELECT 1 FROM t GROUP BY ROW(a, b)");
  EXPECT_EQ(canonical("table t; values (1, 'a'), (2, null)"), "SELECT * FROM t; VALUES (1, 'a'), (2, NULL)");
}

TEST(ParseQuery, Tables) {
  EXPECT_EQ(canonical("select * from a, s.b, c.s.d as x, e y(p, q)"), "SELECT * FROM a, s.b, c.s.d AS x, e AS y(p, q)");
  EXPECT_EQ(canonical("select * from a join b on x left join c using (y, z) right outer join d on w full join e on true cross join f"),
            "SELECT * FROM (((((a JOIN b ON x) LEFT JOIN c USING (y, z)) RIGHT JOIN d ON w) FULL JOIN e ON true) CROSS JOIN f)");
  EXPECT_EQ(canonical("select * from a natural join b natural left join c"), "SELECT * FROM ((a NATURAL JOIN b) NATURAL LEFT JOIN c)");
  EXPECT_EQ(canonical("select * from a join (b join c on x) on y, (d cross join e) as z(p)"),
            "SELECT * FROM (a JOIN (b JOIN c ON x) ON y), (d CROSS JOIN e) AS z(p)");
  EXPECT_EQ(canonical("select * from (a join b on x) as j join c on y"), "SELECT * FROM ((a JOIN b ON x) AS j JOIN c ON y)");
  EXPECT_EQ(canonical("select * from (select 1) s(a), lateral (select 2) t, (values (1)) v"),
            "SELECT * FROM (SELECT 1) AS s(a), LATERAL (SELECT 2) AS t, (VALUES (1)) AS v");
  EXPECT_EQ(
      canonical(
          "select * from read_parquet('a') r, read_parquet('a', 'b'), read_parquet(array['a', 'b']), read_parquet(['a', 'b']), range(3)"),
      "SELECT * FROM read_parquet('a') AS r, read_parquet('a', 'b'), read_parquet('a', 'b'), read_parquet('a', 'b'), range(3)");
}

TEST(ParseQuery, SetOperations) {
  EXPECT_EQ(canonical("select 1 union select 2 union all select 3 order by 1 limit 2"),
            "((SELECT 1) UNION (SELECT 2)) UNION ALL (SELECT 3) ORDER BY 1 LIMIT 2");
  EXPECT_EQ(canonical("select 1 union select 2 intersect select 3 except all select 4"),
            "((SELECT 1) UNION ((SELECT 2) INTERSECT (SELECT 3))) EXCEPT ALL (SELECT 4)");
  EXPECT_EQ(canonical("(select 1 order by a limit 1) union (values (1) limit 2) offset 3"),
            "(SELECT 1 ORDER BY a LIMIT 1) UNION (VALUES (1) LIMIT 2) OFFSET 3");
  EXPECT_EQ(canonical("((select 1 union select 2) limit 1) union select 3"), "((SELECT 1) UNION (SELECT 2) LIMIT 1) UNION (SELECT 3)");
}

TEST(ParseQuery, With) {
  EXPECT_EQ(canonical("with a as (select 1), b(x, y) as materialized (select 2), c as not materialized (select 3) select * from a, b, c"),
            "WITH a AS (SELECT 1), b(x, y) AS MATERIALIZED (SELECT 2), c AS NOT MATERIALIZED (SELECT 3) SELECT * FROM a, b, c");
  EXPECT_EQ(canonical("with recursive a as (select 1 union all select x from a) select * from (with b as (select 2) select * from b) q"),
            "WITH RECURSIVE a AS ((SELECT 1) UNION ALL (SELECT x FROM a)) SELECT * FROM (WITH b AS (SELECT 2) SELECT * FROM b) AS q");
}

TEST(ParseStatement, Definitions) {
  EXPECT_EQ(canonical("create or replace temp view s.v(a, b) as select 1, 2"), "CREATE OR REPLACE TEMP VIEW s.v(a, b) AS SELECT 1, 2");
  EXPECT_EQ(canonical("create temp table if not exists t (a int not null, b varchar(3) null, c double, d text collate \"C\")"),
            "CREATE TEMP TABLE IF NOT EXISTS t (a integer NOT NULL, b varchar(3), c double, d text)");
  EXPECT_EQ(canonical("create table t(a, b) as select 1, 2; create table if not exists s.t as values (1)"),
            "CREATE TABLE t(a, b) AS SELECT 1, 2; CREATE TABLE IF NOT EXISTS s.t AS VALUES (1)");
  EXPECT_EQ(canonical("insert into t values (1, -2); insert into s.t (a, \"B\") select 1, 2"),
            "INSERT INTO t VALUES (1, -2); INSERT INTO s.t(a, \"B\") SELECT 1, 2");
  EXPECT_EQ(canonical("drop table a; drop view if exists s.v, w restrict"), "DROP TABLE a; DROP VIEW IF EXISTS s.v, w");
}

TEST(ParseStatement, ViewKeepsItsQueryText) {
  auto statements = parse_statements("create view v (a) /* as */ as  select 'x' -- c\n from 'f.parquet' ;");
  const auto& view = std::get<ast::CreateView>(statements.at(0).node);
  EXPECT_EQ(view.query_text, "select 'x' -- c\n from 'f.parquet'");
}

TEST(ParseStatement, Explain) {
  EXPECT_EQ(
      canonical("explain select 1; explain analyze select 1; explain (analyze, format json) select 1; explain (analyze false) select 1"),
      "EXPLAIN SELECT 1; EXPLAIN (ANALYZE) SELECT 1; EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1; EXPLAIN SELECT 1");
  EXPECT_EQ(canonical("explain (format text, analyze on) create table t as select 1; explain (select 2); explain insert into t select 1"),
            "EXPLAIN (ANALYZE) CREATE TABLE t AS SELECT 1; EXPLAIN SELECT 2; EXPLAIN INSERT INTO t SELECT 1");
  for (const char* text :
       {"explain select 1 from 'f'", "explain (analyze, format json)  select 1 from 'f'", "explain analyze select 1 from 'f'"}) {
    const auto statements = parse_statements(text);
    const ast::Statement& inner = *std::get<ast::Explain>(statements.at(0).node).statement;
    EXPECT_EQ(inner.text, "select 1 from 'f'");
    EXPECT_EQ(inner.position, static_cast<int64_t>(std::string_view(text).find("select")));
  }
  EXPECT_EQ(std::get<ast::Explain>(parse_statements("explain (select 1)").at(0).node).statement->text, "(select 1)");
}

TEST(ParseStatement, SetAndShow) {
  EXPECT_EQ(canonical("set a = 1; set b.c to 'x y'; set d = on; set e = off; set f = -5; set g = 0.5; set h = Auto"),
            "SET a = '1'; SET b.c = 'x y'; SET d = 'on'; SET e = 'off'; SET f = '-5'; SET g = '0.5'; SET h = 'auto'");
  EXPECT_EQ(canonical("set a = 4GB; set a to 1.5 GiB; set a = 80%; set session a = '4GB'; set a = 0; set a = true"),
            "SET a = '4GB'; SET a = '1.5 GiB'; SET a = '80%'; SET a = '4GB'; SET a = '0'; SET a = 'true'");
  EXPECT_EQ(canonical("reset a; reset all; set a = default; set time zone 'utc'"), "RESET a; RESET all; RESET a; SET timezone = 'utc'");
  EXPECT_EQ(canonical("show tables; SHOW FUNCTIONS; show all; show a.b"), "SHOW tables; SHOW functions; SHOW all; SHOW a.b");
}

TEST(ParseStatement, Describe) {
  EXPECT_EQ(canonical("describe t; desc s.t; DESCRIBE \"T\""),
            "DESCRIBE SELECT * FROM t; DESCRIBE SELECT * FROM s.t; DESCRIBE SELECT * FROM \"T\"");
  EXPECT_EQ(canonical("describe 'a/*.parquet'; describe select 1 from 'f'"),
            "DESCRIBE SELECT * FROM 'a/*.parquet'; DESCRIBE SELECT 1 FROM 'f'");
  EXPECT_EQ(canonical("describe (select 1); desc with a as (select 1) select 2; describe values (1); describe table t"),
            "DESCRIBE SELECT 1; DESCRIBE WITH a AS (SELECT 1) SELECT 2; DESCRIBE VALUES (1); DESCRIBE SELECT * FROM t");
  EXPECT_EQ(canonical("describe read_parquet('f')"), "DESCRIBE SELECT * FROM read_parquet('f')");
}

TEST(ParseStatement, SeveralAndNone) {
  EXPECT_TRUE(parse_statements("").empty());
  EXPECT_TRUE(parse_statements(" ;; -- nothing\n").empty());
  const auto statements = parse_statements(" select 1 ;\n select 'ä;' -- x\n ; ");
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(statements[0].text, "select 1");
  EXPECT_EQ(statements[0].position, 1);
  EXPECT_EQ(statements[1].text, "select 'ä;'");
  EXPECT_EQ(statements[1].position, 13);
}

// The canonical text of a query is SQL, and parsing it changes nothing.
TEST(ParseQuery, TpchQueriesParse) {
  const auto folder = std::filesystem::path(PISTACHIO_SOURCE_FOLDER) / "tests/tpch/queries";
  for (int number = 1; number <= 22; ++number) {
    std::ifstream file(folder / fmt::format("q{:02}.sql", number));
    std::stringstream text;
    text << file.rdbuf();
    const std::string once = canonical(text.str());
    EXPECT_TRUE(once.starts_with("SELECT ") || once.starts_with("WITH ")) << number << ": " << once;
    EXPECT_EQ(canonical(once), once) << number;
  }
}

}  // namespace
}  // namespace pistachio
