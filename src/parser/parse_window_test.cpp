// OVER, WINDOW, QUALIFY and IGNORE NULLS: text in, canonical text of the tree out.
#include "parser/parse_harness.h"

namespace pistachio {
namespace {

TEST(ParseWindow, Definitions) {
  EXPECT_EQ(expression_text("rank() over (), rank() over w, rank() over (w)"), "rank() OVER (), rank() OVER w, rank() OVER (w)");
  EXPECT_EQ(expression_text("sum(a) filter (where b) over (w partition by c, d order by e desc nulls last, f)"),
            "sum(a) FILTER (WHERE b) OVER (w PARTITION BY c, d ORDER BY e DESC NULLS LAST, f)");
  EXPECT_EQ(canonical("select 1 from t group by a having b window v as (partition by c), \"W\" as (v order by d) order by e"),
            "SELECT 1 FROM t GROUP BY a HAVING b WINDOW v AS (PARTITION BY c), \"W\" AS (v ORDER BY d) ORDER BY e");
}

TEST(ParseWindow, Frames) {
  EXPECT_EQ(expression_text("sum(a) over (rows 2 preceding)"), "sum(a) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)");
  EXPECT_EQ(expression_text("sum(a) over (order by b range between unbounded preceding and interval '1 day' following exclude ties)"),
            "sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CAST('1 day' AS interval) FOLLOWING EXCLUDE TIES)");
  EXPECT_EQ(expression_text("sum(a) over (order by b groups between current row and unbounded following exclude group)"),
            "sum(a) OVER (ORDER BY b GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE GROUP)");
  EXPECT_EQ(expression_text("sum(a) over (rows between 1 following and 2 following exclude current row)"),
            "sum(a) OVER (ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW)");
  EXPECT_EQ(expression_text("sum(a) over (rows between 1 preceding and 0 preceding exclude no others)"),
            "sum(a) OVER (ROWS BETWEEN 1 PRECEDING AND 0 PRECEDING)");
}

TEST(ParseWindow, Qualify) {
  EXPECT_EQ(canonical("select a from t qualify b > 1 order by c limit 2"), "SELECT a FROM t QUALIFY (b > 1) ORDER BY c LIMIT 2");
  EXPECT_EQ(canonical("select a from t where b group by c having d window w as () qualify (e) and f"),
            "SELECT a FROM t WHERE b GROUP BY c HAVING d WINDOW w AS () QUALIFY (e AND f)");
  EXPECT_EQ(canonical("select a from t qualify b window w as (), v as ()"), "SELECT a FROM t WINDOW w AS (), v AS () QUALIFY b");
  EXPECT_EQ(canonical("select 1 from 'f' qualify a in ('x', 'y') union select 2 qualify b"),
            "(SELECT 1 FROM 'f' QUALIFY (a IN ('x', 'y'))) UNION (SELECT 2 QUALIFY b)");
  EXPECT_EQ(canonical("select * from (select 1 from t qualify a) qualify case when b then -1 else c end > all (select 3 qualify d)"),
            "SELECT * FROM (SELECT 1 FROM t QUALIFY a) QUALIFY (CASE WHEN b THEN -1 ELSE c END > ALL (SELECT 3 QUALIFY d))");
}

TEST(ParseWindow, QualifyIsANameElsewhere) {
  EXPECT_EQ(canonical("select qualify, a qualify, b as qualify, t.qualify from t qualify where qualify = 1 and c < qualify"),
            "SELECT qualify, a AS qualify, b AS qualify, t.qualify FROM t AS qualify WHERE ((qualify = 1) AND (c < qualify))");
  EXPECT_EQ(canonical("select 1 from a qualify join b on qualify.x = b.y"), "SELECT 1 FROM (a AS qualify JOIN b ON (qualify.x = b.y))");
  EXPECT_EQ(canonical("select 1 from (select 2) qualify"), "SELECT 1 FROM (SELECT 2) AS qualify");
}

TEST(ParseWindow, NullTreatment) {
  EXPECT_EQ(expression_text("lag(a ignore nulls) over w, lag(a, 2) ignore nulls over (), first_value(a respect nulls) over ()"),
            "lag(a IGNORE NULLS) OVER w, lag(a, 2 IGNORE NULLS) OVER (), first_value(a) OVER ()");
  EXPECT_EQ(expression_text("f() ignore nulls over ()"), "f( IGNORE NULLS) OVER ()");
  EXPECT_EQ(canonical("select ignore nulls, respect from t"), "SELECT ignore AS nulls, respect FROM t");
}

TEST(ParseWindow, ErrorsHaveTheirPosition) {
  expect_failure_at_mark("select lag(a ^ignore nulls)", "IGNORE NULLS and RESPECT NULLS need OVER");
  expect_failure_at_mark("select f(a order by b ^ignore nulls) over ()",
                         "IGNORE NULLS and RESPECT NULLS belong behind the arguments of a window function");
  expect_failure_at_mark("select 1 from t ^qualify a, b", "QUALIFY takes one condition");
  expect_failure_at_mark("select 1 from t qualify a ^where b", "syntax error at or near \"where\"");
  expect_failure_at_mark("select 1 from t qualify ^array[1] order by 2", "An array is not supported");
  expect_failure_at_mark("select 1 from t qualify sum(a) over (rows between ^unbounded following and current row) > 1",
                         "frame start cannot be UNBOUNDED FOLLOWING");
}

}  // namespace
}  // namespace pistachio
