// Texts in place of tables: where they are files and where they stay texts.
#include "parser/table_texts.h"

#include <gtest/gtest.h>

#include "parser/parse_harness.h"

namespace pistachio {
namespace {

TEST(TableTexts, FilesInFrom) {
  EXPECT_EQ(canonical("select * from 'a.parquet'"), "SELECT * FROM 'a.parquet'");
  EXPECT_EQ(canonical("select * from 'a' t, 'b' as u(x, y), c"), "SELECT * FROM 'a' AS t, 'b' AS u(x, y), c");
  EXPECT_EQ(canonical("select * from 'a' join 'b' on x = 'c' left join 'd' using (y), 'e'"),
            "SELECT * FROM (('a' JOIN 'b' ON (x = 'c')) LEFT JOIN 'd' USING (y)), 'e'");
  EXPECT_EQ(canonical("select * from ('a' cross join 'b')"), "SELECT * FROM ('a' CROSS JOIN 'b')");
  EXPECT_EQ(canonical("select * from (('a' cross join 'b') cross join c)"), "SELECT * FROM (('a' CROSS JOIN 'b') CROSS JOIN c)");
  EXPECT_EQ(canonical("select * from f('x', 'y'), 'a'"), "SELECT * FROM f('x', 'y'), 'a'");
  EXPECT_EQ(canonical("select * from t as x(y, z), 'a'"), "SELECT * FROM t AS x(y, z), 'a'");
  EXPECT_EQ(canonical("select * from 'it''s', $$b$$"), "SELECT * FROM 'it''s', 'b'");
  const std::string path(500, 'p');
  EXPECT_EQ(canonical("select * from '" + path + "' x"), "SELECT * FROM '" + path + "' AS x");
}

TEST(TableTexts, FilesInEveryKindOfStatement) {
  EXPECT_EQ(canonical("create view v as select * from 'a'"), "CREATE VIEW v AS SELECT * FROM 'a'");
  EXPECT_EQ(canonical("create table t as select * from 'a'"), "CREATE TABLE t AS SELECT * FROM 'a'");
  EXPECT_EQ(canonical("insert into t select * from 'a'"), "INSERT INTO t SELECT * FROM 'a'");
  EXPECT_EQ(canonical("explain analyze select * from 'a'"), "EXPLAIN (ANALYZE) SELECT * FROM 'a'");
  EXPECT_EQ(canonical("with q as (select * from 'a') select * from q, 'b'"), "WITH q AS (SELECT * FROM 'a') SELECT * FROM q, 'b'");
  EXPECT_EQ(canonical("select (select max(x) from 'a'), 'b' from (select * from 'c') q where exists (select 1 from 'd', 'e')"),
            "SELECT (SELECT max(x) FROM 'a'), 'b' FROM (SELECT * FROM 'c') AS q WHERE EXISTS (SELECT 1 FROM 'd', 'e')");
  EXPECT_EQ(canonical("select 1 from 'a' union select 'b', 'c' from 'd'"), "(SELECT 1 FROM 'a') UNION (SELECT 'b', 'c' FROM 'd')");
}

TEST(TableTexts, TextsStayTexts) {
  EXPECT_EQ(canonical("select 'a', 'b' from t where x in ('c', 'd') group by 'e', 'f' order by 'g', 'h'"),
            "SELECT 'a', 'b' FROM t WHERE (x IN ('c', 'd')) GROUP BY 'e', 'f' ORDER BY 'g', 'h'");
  EXPECT_EQ(expression_text(
                "extract(year from 'x'), substring('x' from 1), trim(both 'x' from 'y'), trim(from 'y'), overlay('a' placing 'b' from 1)"),
            "extract('year' FROM 'x'), substring('x', 1), btrim('y', 'x'), btrim('y'), overlay('a', 'b', 1)");
  EXPECT_EQ(canonical("select a is distinct from 'x', a is not distinct from 'y' from 'z' where b is distinct from 'w'"),
            "SELECT (a IS DISTINCT FROM 'x'), (a IS NOT DISTINCT FROM 'y') FROM 'z' WHERE (b IS DISTINCT FROM 'w')");
  EXPECT_EQ(canonical("select * from a join b on a.x is distinct from 'p' and substring('q' from 1) = 'r', 's'"),
            "SELECT * FROM (a JOIN b ON ((a.x IS DISTINCT FROM 'p') AND (substring('q', 1) = 'r'))), 's'");
  EXPECT_EQ(canonical("select * from (values ('a', 'b'), ('c', 'd')) v, 'e'"), "SELECT * FROM (VALUES ('a', 'b'), ('c', 'd')) AS v, 'e'");
  EXPECT_EQ(canonical("select * from (select 'a', 'b') v, lateral (select 'c', 'd') w, 'e'"),
            "SELECT * FROM (SELECT 'a', 'b') AS v, LATERAL (SELECT 'c', 'd') AS w, 'e'");
  EXPECT_EQ(canonical("select * from (with q as (select 'a', 'b') select 'c', 'd' from q) v"),
            "SELECT * FROM (WITH q AS (SELECT 'a', 'b') SELECT 'c', 'd' FROM q) AS v");
  EXPECT_EQ(canonical("select * from t join u on x = any(array['a', 'b']), 'c'"), "SELECT * FROM (t JOIN u ON (x IN ('a', 'b'))), 'c'");
  EXPECT_EQ(canonical("insert into t values ('a', 'b')"), "INSERT INTO t VALUES ('a', 'b')");
}

TEST(TableTexts, SubqueriesNeedNoAlias) {
  EXPECT_EQ(canonical("select * from (select 1)"), "SELECT * FROM (SELECT 1)");
  EXPECT_EQ(canonical("select * from (values (1), (2)) where true"), "SELECT * FROM (VALUES (1), (2)) WHERE true");
  EXPECT_EQ(canonical("select * from ((select 1))"), "SELECT * FROM (SELECT 1)");
  EXPECT_EQ(canonical("select * from ((select 1)) x"), "SELECT * FROM (SELECT 1) AS x");
  EXPECT_EQ(canonical("select * from ((select 1) union (select 2))"), "SELECT * FROM ((SELECT 1) UNION (SELECT 2))");
  EXPECT_EQ(canonical("select * from (select 1), (select 2) x, lateral (select 3)"),
            "SELECT * FROM (SELECT 1), (SELECT 2) AS x, LATERAL (SELECT 3)");
  EXPECT_EQ(canonical("select * from (select 1) join (select 2) on true left join (select (select 3)) using (a)"),
            "SELECT * FROM (((SELECT 1) JOIN (SELECT 2) ON true) LEFT JOIN (SELECT (SELECT 3)) USING (a))");
  EXPECT_EQ(canonical("select * from ((select 1) cross join t)"), "SELECT * FROM ((SELECT 1) CROSS JOIN t)");
  EXPECT_EQ(canonical("select * from (with q as (select 1) select * from (select 2)) limit 1"),
            "SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM (SELECT 2)) LIMIT 1");
  EXPECT_EQ(canonical("select (select 1), x in (select 2) from t where exists (select 3)"),
            "SELECT (SELECT 1), (x IN (SELECT 2)) FROM t WHERE EXISTS (SELECT 3)");
}

TEST(TableTexts, SemiAndAntiJoins) {
  EXPECT_EQ(canonical("select * from a semi join b on a.x = b.x"), "SELECT * FROM (a SEMI JOIN b ON (a.x = b.x))");
  EXPECT_EQ(canonical("select * from a x ANTI JOIN b using (k) join c on true"),
            "SELECT * FROM ((a AS x ANTI JOIN b USING (k)) JOIN c ON true)");
  EXPECT_EQ(canonical("select * from (select 1) semi join 'f' on a = 1 anti join c on true"),
            "SELECT * FROM (((SELECT 1) SEMI JOIN 'f' ON (a = 1)) ANTI JOIN c ON true)");
  EXPECT_EQ(canonical("select * from a left join b semi join c on p on q"), "SELECT * FROM (a LEFT JOIN (b SEMI JOIN c ON p) ON q)");
  // After AS or in quotes, and at the start of a table, they are names.
  EXPECT_EQ(canonical("select * from a as semi join b on true"), "SELECT * FROM (a AS semi JOIN b ON true)");
  EXPECT_EQ(canonical("select * from a \"anti\" join b on true"), "SELECT * FROM (a AS anti JOIN b ON true)");
  EXPECT_EQ(canonical("select * from semi join anti on semi.x = anti.x"), "SELECT * FROM (semi JOIN anti ON (semi.x = anti.x))");
  expect_failure_at_mark("select * from a ^asof join b on true", "ASOF JOIN is not supported; for an alias of this name write AS asof");
  expect_failure_at_mark("select * from a ^positional join b", "POSITIONAL JOIN is not supported; for an alias of this name write AS positional");
}

TEST(TableTexts, WordsThatAreNames) {
  EXPECT_EQ(canonical("select a as from, 'x' from 'y'"), "SELECT a AS from, 'x' FROM 'y'");
  EXPECT_EQ(canonical("select t.from, 'x' from 'y' t"), "SELECT t.from, 'x' FROM 'y' AS t");
  EXPECT_EQ(canonical("select a as select, 'x' from t, 'y'"), "SELECT a AS select, 'x' FROM t, 'y'");
  EXPECT_EQ(canonical("select \"from\", 'x' from 'y'"), "SELECT from, 'x' FROM 'y'");
}

TEST(TableTexts, PositionsAreThoseOfTheOriginal) {
  const std::string text = "select a, 'ü' from 'a.parquet' x join 'b.parquet' on y = z where w";
  const auto statements = parse_statements(text);
  const auto& query = *std::get<ast::SelectStatement>(statements.at(0).node).query;
  const auto& select = std::get<ast::Select>(query.body);
  const auto& join = std::get<ast::JoinTable>(select.from.at(0)->node);
  const auto at = [&](std::string_view piece) { return static_cast<int64_t>(text.find(piece)); };
  EXPECT_EQ(select.items[1].expression->position, at("'ü'"));
  EXPECT_EQ(join.left->position, at("'a.parquet'"));
  EXPECT_EQ(join.right->position, at("'b.parquet'"));
  EXPECT_EQ(join.condition->position, at("= z"));
  EXPECT_EQ(select.where->position, static_cast<int64_t>(text.size()) - 1);
}

TEST(TableTexts, SyntaxErrorsShowTheUsersText) {
  expect_failure_at_mark("select * from 'a.parquet' x ^y z", "syntax error at or near \"y\"");
  expect_failure_at_mark("select * from 'a.parquet' as ^'b'", "syntax error at or near \"'b'\"");
  expect_failure_at_mark("select * from a, 'b' ^'c'", "syntax error at or near \"'c'\"");
  expect_failure_at_mark("select * from a join 'b' ^where c", "syntax error at or near \"where\"");
  expect_failure_at_mark("select * from ^'b'.c", "a file name cannot be used here");
  expect_failure_at_mark("select * from ^'b'(1)", "a file name cannot be used here");
  expect_failure_at_mark("select * from only ^'b'", "syntax error at or near \"'b'\"");
}

}  // namespace
}  // namespace pistachio
