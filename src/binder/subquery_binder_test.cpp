#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

using SubqueryBinderTest = BindTest;

TEST_F(SubqueryBinderTest, ScalarsAreSingleJoins) {
  EXPECT_EQ(plan_of("select a + (select c from u where u.a = t.a) from t"), R"(
project (a + CAST(c AS INTEGER)) AS ?column?
  dependent single join
    scan t(a, b, s, d)
    project c
      filter (a.2 = a)
        scan u(a.2, c)
)");
  EXPECT_EQ(error_of("select (select a, c from u)"), "a subquery used as a value must give one column, not 2 [(select a, c from u)]");
}

TEST_F(SubqueryBinderTest, InAndAllAreMarks) {
  EXPECT_EQ(plan_of("select a from t where a not in (select c from u)"), R"(
project a
  filter not(mark)
    dependent mark join comparing (a = CAST(c AS INTEGER)) AS mark
      scan t(a, b, s, d)
      project c
        scan u(a.2, c)
)");
  // a > ALL is NOT a <= ANY.
  EXPECT_EQ(plan_of("select a > all (select u.a from u) from t"), R"(
project not(mark) AS ?column?
  dependent mark join comparing (a <= a.2) AS mark
    scan t(a, b, s, d)
    project a.2
      scan u(a.2, c)
)");
  EXPECT_EQ(plan_of("select 1 from t where (a, b) in (select u.a, c from u)"), R"(
project 1 AS ?column?
  filter mark
    dependent mark join comparing (a = a.2) AND (b = CAST(c AS BIGINT)) AS mark
      scan t(a, b, s, d)
      project a.2, c
        scan u(a.2, c)
)");
  EXPECT_EQ(error_of("select 1 from t where a in (select a, c from u)"),
            "the subquery must give 1 column(s) to compare with, not 2 [in (select a, c from u)]");
}

TEST_F(SubqueryBinderTest, CorrelationReachesThroughLevels) {
  // d is two queries away, and u.a one.
  EXPECT_EQ(plan_of("select 1 from t where exists (select 1 from u where exists (select 1 where d > u.a))"), R"(
project 1 AS ?column?.3
  filter mark.2
    dependent mark join AS mark.2
      scan t(a, b, s, d)
      project 1 AS ?column?.2
        filter mark
          dependent mark join AS mark
            scan u(a.2, c)
            project 1 AS ?column?
              filter (CAST(d AS DECIMAL(12,2)) > CAST(a.2 AS DECIMAL(12,2)))
                values() of 1 rows
)");
}

TEST_F(SubqueryBinderTest, PassedOnOuterColumnGetsItsOwnId) {
  EXPECT_EQ(plan_of("select (select t.a) from t"), R"(
project a.2
  dependent single join
    scan t(a, b, s, d)
    project a AS a.2
      values() of 1 rows
)");
}

TEST_F(SubqueryBinderTest, OuterJoinConditionsJoinSubqueriesBelow) {
  // Joined to the side it refers to, not above the join.
  EXPECT_EQ(plan_of("select 1 from t left join u on t.a = u.a and exists (select 1 from u v where v.a = u.c)"), R"(
project 1 AS ?column?.2
  left join on (a = a.2) AND mark
    scan t(a, b, s, d)
    dependent mark join AS mark
      scan u(a.2, c)
      project 1 AS ?column?
        filter (a.3 = CAST(c AS INTEGER))
          scan u(a.3, c.2)
)");
  EXPECT_EQ(error_of("select 1 from t full join u on exists (select 1 where t.a = u.a)"),
            "a subquery in the ON clause of a FULL JOIN cannot refer to both sides of the join [exists (select 1 where t.a = u.a)]");
}

TEST_F(SubqueryBinderTest, SubqueriesAboveGroupsUseGroups) {
  EXPECT_EQ(plan_of("select a, (select max(c) from u where u.a = t.a) from t group by a"), R"(
project a, max
  dependent single join
    aggregate by a
      scan t(a, b, s, d)
    project max
      aggregate: max(c) AS max
        filter (a.2 = a)
          scan u(a.2, c)
)");
}

TEST_F(SubqueryBinderTest, CorrelatedCommonTablesAreBoundAtEachUse) {
  EXPECT_EQ(plan_of("select (with w as (select t.a as x) select sum(w.x) from w) from t"), R"(
project sum
  dependent single join
    scan t(a, b, s, d)
    project sum
      aggregate: sum(x.2) AS sum
        project a AS x.2
          values() of 1 rows
)");
  EXPECT_EQ(error_of("select (with recursive w as (select t.a as x union select x + 1 from w) select 1 from w) from t"),
            "WITH RECURSIVE cannot refer to the outer query [w as (select t.a as x union select x + 1 from w) select 1 from w) from t]");
}

TEST_F(SubqueryBinderTest, RecursionReadsItsWorkingTable) {
  EXPECT_EQ(plan_of("with recursive w(x) as (select 1 union all select x + 1 from w where x < 3) select x from w"), R"(
common table 1:
  recursive union all x
    project ?column? AS x.3
      project 1 AS ?column?
        values() of 1 rows
    project ?column?.2 AS x.4
      project (x.2 + 1) AS ?column?.2
        filter (x.2 < 3)
          read working table 0(x.2)
project x.5
  read common table 1(x.5)
)");
  EXPECT_NE(error_of("with recursive w(x) as (select 1 union all select x + 1.5 from w) select x from w"), "no error");
  EXPECT_NE(error_of("with recursive w(x) as (select 1 union all select x, x from w) select x from w"), "no error");
  EXPECT_NE(error_of("with recursive w(x) as (select 1 union all select x + 1 from w limit 3) select x from w"), "no error");
}

TEST_F(SubqueryBinderTest, SubqueriesAreRefusedWithoutRows) {
  EXPECT_EQ(error_of("select 1 union select 2 order by (select 1)"), "a subquery cannot be used in this ORDER BY [(select 1)]");
}

}  // namespace
}  // namespace pistachio
