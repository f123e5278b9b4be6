// Expressions: text in, canonical text of the tree out.
#include <gtest/gtest.h>

#include "parser/parse_harness.h"

namespace pistachio {
namespace {

TEST(ParseExpression, Literals) {
  EXPECT_EQ(expression_text("1, 0, 007, 1.50, .5, 1e10, 12345678901234567890"), "1, 0, 7, 1.50, .5, 1e10, 12345678901234567890");
  EXPECT_EQ(expression_text("'a', '', 'it''s', E'a\\nb', $$x$$, U&'\\0041'"), "'a', '', 'it''s', 'a\nb', 'x', 'A'");
  EXPECT_EQ(expression_text("null, true, false"), "NULL, true, false");
  EXPECT_EQ(expression_text("'a'\n'b'"), "'ab'");
}

// libpg_query leaves non-positive integers out of its tree.
TEST(ParseExpression, NegativeNumbers) {
  EXPECT_EQ(expression_text("-5, - 5, -0, - /* x */ 5, -(5), -(-5), - -5, -( - ( -7 ))"), "-5, -5, 0, -5, -5, 5, 5, -7");
  EXPECT_EQ(expression_text("a*-5, a - -5, a-5, a -5, -a, - - a"), "(a * -5), (a - -5), (a - 5), (a - 5), (- a), (- (- a))");
  EXPECT_EQ(expression_text("-2147483647, -2147483648, -9223372036854775808, -1.5, -007"),
            "-2147483647, -2147483648, -9223372036854775808, -1.5, -7");
  EXPECT_EQ(expression_text("+5, - +5, - +0, +a, f(-1, 0)"), "5, -5, 0, (+ a), f(-1, 0)");
  EXPECT_EQ(canonical("select 1 limit 0 offset 0"), "SELECT 1 LIMIT 0 OFFSET 0");
  EXPECT_EQ(canonical("select a from t where ä = -3"), "SELECT a FROM t WHERE (\"ä\" = -3)");
  EXPECT_EQ(canonical("select a from 'some/long/path.parquet' where b = -3"), "SELECT a FROM 'some/long/path.parquet' WHERE (b = -3)");
}

TEST(ParseExpression, NamesAndStars) {
  EXPECT_EQ(expression_text("a, T.A, s.t.\"A b\", \"x\"\"y\", *, t.*, s.t.*"), "a, t.a, s.t.\"A b\", \"x\"\"y\", *, t.*, s.t.*");
  const std::string long_name(100, 'x');
  EXPECT_EQ(canonical("select " + long_name + ", \"" + long_name + "Y\" from " + long_name + "t"),
            "SELECT " + long_name + ", \"" + long_name + "Y\" FROM " + long_name + "t");
  EXPECT_EQ(canonical("select \"\x01"
                      "0\", a from 'f'"),
            "SELECT \"\x01"
            "0\", a FROM 'f'");
}

TEST(ParseExpression, Operators) {
  EXPECT_EQ(expression_text("a + b * c - d / e % f ^ g"), "((a + (b * c)) - ((d / e) % (f ^ g)))");
  EXPECT_EQ(expression_text("a || b = c, a <> b, a != b, a < b, a <= b, a > b, a >= b"),
            "((a || b) = c), (a <> b), (a <> b), (a < b), (a <= b), (a > b), (a >= b)");
  EXPECT_EQ(expression_text("a ~ b, a ~* b, a !~ b, a !~* b"), "(a ~ b), (a ~* b), (a !~ b), (a !~* b)");
  EXPECT_EQ(expression_text("a is distinct from 'b', a is not distinct from b"), "(a IS DISTINCT FROM 'b'), (a IS NOT DISTINCT FROM b)");
}

TEST(ParseExpression, Patterns) {
  EXPECT_EQ(expression_text("a like b, a not like b, a ilike b, a not ilike b, a ~~ b"),
            "(a LIKE b), (a NOT LIKE b), (a ILIKE b), (a NOT ILIKE b), (a LIKE b)");
  EXPECT_EQ(expression_text("a like b escape 'c', a not ilike b escape '\\'"), "(a LIKE b ESCAPE 'c'), (a NOT ILIKE b ESCAPE '\\')");
  EXPECT_EQ(expression_text("a similar to b, a not similar to b escape 'x'"), "(a SIMILAR TO b), (a NOT SIMILAR TO b ESCAPE 'x')");
}

TEST(ParseExpression, Logic) {
  EXPECT_EQ(expression_text("a and b and c or not d"), "((a AND b AND c) OR (NOT d))");
  EXPECT_EQ(expression_text("a or b or c and d"), "(a OR b OR (c AND d))");
  EXPECT_EQ(expression_text("a is null, a is not null, a isnull, a is true, a is not true, a is false, a is not false, a is unknown"),
            "(a IS NULL), (a IS NOT NULL), (a IS NULL), (a IS TRUE), (a IS NOT TRUE), (a IS FALSE), (a IS NOT FALSE), (a IS UNKNOWN)");
  EXPECT_EQ(expression_text("a is not unknown"), "(a IS NOT UNKNOWN)");
}

TEST(ParseExpression, BetweenAndIn) {
  EXPECT_EQ(expression_text("a between 1 and 2, a not between 1 and 2"), "(a BETWEEN 1 AND 2), (a NOT BETWEEN 1 AND 2)");
  EXPECT_EQ(expression_text("a between symmetric 1 and 2, a not between symmetric 2 and 1"),
            "(a BETWEEN SYMMETRIC 1 AND 2), (a NOT BETWEEN SYMMETRIC 2 AND 1)");
  EXPECT_EQ(expression_text("a in (1), a in (1, 'b'), a not in (1, 2), (a, b) in ((1, 2), (3, 4))"),
            "(a IN (1)), (a IN (1, 'b')), (a NOT IN (1, 2)), (ROW(a, b) IN (ROW(1, 2), ROW(3, 4)))");
  EXPECT_EQ(expression_text("a = any(array[1, 2]), a <> all(array[1, 2]), a = any([3])"), "(a IN (1, 2)), (a NOT IN (1, 2)), (a IN (3))");
}

TEST(ParseExpression, Subqueries) {
  EXPECT_EQ(expression_text("(select 1), exists (select 1), a in (select 1), a not in (select 1)"),
            "(SELECT 1), EXISTS (SELECT 1), (a IN (SELECT 1)), (NOT (a IN (SELECT 1)))");
  EXPECT_EQ(expression_text("a = any (select 1), a > any (select 1), a <> all (select 1), a <= some (select 1), (a, b) in (select 1, 2)"),
            "(a IN (SELECT 1)), (a > ANY (SELECT 1)), (a <> ALL (SELECT 1)), (a <= ANY (SELECT 1)), (ROW(a, b) IN (SELECT 1, 2))");
}

TEST(ParseExpression, CasesAndRows) {
  EXPECT_EQ(expression_text("case when a then b when c then d else e end"), "CASE WHEN a THEN b WHEN c THEN d ELSE e END");
  EXPECT_EQ(expression_text("case a when 1 then 2 end"), "CASE a WHEN 1 THEN 2 END");
  EXPECT_EQ(expression_text("row(1, 2), (1, 2), row(1), ((1))"), "ROW(1, 2), ROW(1, 2), ROW(1), 1");
}

TEST(ParseExpression, Casts) {
  EXPECT_EQ(expression_text("a::int, cast(a as bigint), a::decimal(15, 2), a::varchar(10)"),
            "CAST(a AS integer), CAST(a AS bigint), CAST(a AS decimal(15, 2)), CAST(a AS varchar(10))");
  EXPECT_EQ(expression_text("a::smallint, a::real, a::double precision, a::double, a::float, a::float4, a::boolean, a::bool, a::numeric"),
            "CAST(a AS smallint), CAST(a AS real), CAST(a AS double), CAST(a AS double), CAST(a AS double), CAST(a AS real), "
            "CAST(a AS boolean), CAST(a AS boolean), CAST(a AS decimal)");
  EXPECT_EQ(expression_text("a::TINYINT, a::STRING, a::HUGEINT, a::text, a::char(3), a::bytea, a::blob, a::int1, a::int8"),
            "CAST(a AS tinyint), CAST(a AS string), CAST(a AS hugeint), CAST(a AS text), CAST(a AS char(3)), CAST(a AS blob), "
            "CAST(a AS blob), CAST(a AS int1), CAST(a AS bigint)");
  EXPECT_EQ(expression_text("a::time, a::timestamp(3), a::timestamptz, a::timestamp with time zone, a::date"),
            "CAST(a AS time), CAST(a AS timestamp(3)), CAST(a AS timestamptz), CAST(a AS timestamptz), CAST(a AS date)");
}

TEST(ParseExpression, TypedLiterals) {
  EXPECT_EQ(expression_text("date '2020-01-01', timestamp '2020-01-01 00:00', decimal '1.5', double '2'"),
            "CAST('2020-01-01' AS date), CAST('2020-01-01 00:00' AS timestamp), CAST('1.5' AS decimal), CAST('2' AS double)");
  EXPECT_EQ(
      expression_text("interval '3' month, interval '1 day', interval '1-2' year to month, interval '1' second(3), interval(2) '1 s'"),
      "CAST('3' AS interval month), CAST('1 day' AS interval), CAST('1-2' AS interval year to month), "
      "CAST('1' AS interval second(3)), CAST('1 s' AS interval(2))");
  EXPECT_EQ(expression_text("interval '1' year, interval '1' day, interval '1' hour, interval '1' minute, interval '1 2' day to hour"),
            "CAST('1' AS interval year), CAST('1' AS interval day), CAST('1' AS interval hour), CAST('1' AS interval minute), "
            "CAST('1 2' AS interval day to hour)");
  EXPECT_EQ(expression_text("interval '1' day to second(0), interval '1' hour to second, interval '1' minute to second"),
            "CAST('1' AS interval day to second(0)), CAST('1' AS interval hour to second), CAST('1' AS interval minute to second)");
}

TEST(ParseExpression, Calls) {
  EXPECT_EQ(expression_text("f(), F(a, 1), count(*), count(distinct a), sum(a) filter (where b), string_agg(a, ',' order by b desc)"),
            "f(), f(a, 1), count(*), count(DISTINCT a), sum(a) FILTER (WHERE b), string_agg(a, ',' ORDER BY b DESC)");
  EXPECT_EQ(expression_text("coalesce(a, b), nullif(a, b), greatest(a, b, c), least(a)"),
            "coalesce(a, b), nullif(a, b), greatest(a, b, c), least(a)");
  EXPECT_EQ(expression_text("row_number() over (partition by a order by b), sum(a) over w"), "row_number() OVER (PARTITION BY a ORDER BY b), sum(a) OVER w");
  EXPECT_EQ(expression_text("a collate \"C\""), "a");
}

TEST(ParseExpression, SqlSyntaxOfFunctions) {
  EXPECT_EQ(expression_text("extract(year from a), extract('month' from a), date_part('year', a)"),
            "extract('year' FROM a), extract('month' FROM a), date_part('year', a)");
  EXPECT_EQ(expression_text("substring(a from 1 for 2), substring(a from 2), substring(a, 1, 2), substring(a for 2)"),
            "substring(a, 1, 2), substring(a, 2), substring(a, 1, 2), substring(a, 1, CAST(2 AS integer))");
  EXPECT_EQ(expression_text("position(a in b), strpos(b, a)"), "strpos(b, a), strpos(b, a)");
  EXPECT_EQ(expression_text("trim(a), trim(both 'x' from a), trim(leading from a), trim(trailing 'y' from a), trim('x' from a)"),
            "btrim(a), btrim(a, 'x'), ltrim(a), rtrim(a, 'y'), btrim(a, 'x')");
  EXPECT_EQ(expression_text("overlay(a placing b from 1 for 2), a at time zone 'utc'"), "overlay(a, b, 1, 2), timezone('utc', a)");
  EXPECT_EQ(expression_text("current_date, current_timestamp, current_timestamp(3), localtime(0), current_user"),
            "current_date, current_timestamp, current_timestamp(3), localtime(0), current_user");
}

}  // namespace
}  // namespace pistachio
