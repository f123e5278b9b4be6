#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

using NameResolutionTest = BindTest;

TEST_F(NameResolutionTest, UnknownNamesSuggestNearOnes) {
  EXPECT_EQ(error_of("select dd from t"), "there is no column dd; did you mean d? [dd from t]");
  EXPECT_EQ(error_of("select t.x1 from t"), "there is no column t.x1 [t.x1 from t]");
  EXPECT_EQ(error_of("select a"), "there is no column a; there is no FROM [a]");
  EXPECT_EQ(error_of("select 1 from v"), "there is no table v; there are Mixed, t, u [v]");
  EXPECT_EQ(error_of("select v.* from t"), "there is no table v in FROM [v.* from t]");
  EXPECT_EQ(error_of("select 1 from other.t"), "there is no schema other; CREATE SCHEMA makes one [other.t]");
}

TEST_F(NameResolutionTest, ColumnOfTwoTablesIsAmbiguous) {
  EXPECT_EQ(error_of("select a from t, u"), "column a is ambiguous: it is in t and u; write the table's name before it [a from t, u]");
  EXPECT_EQ(columns_of("select t.a, c from t, u"), "a INTEGER, c SMALLINT");
  EXPECT_EQ(error_of("select a from (select 1 as a, 2 as a) q"),
            "column a is ambiguous: it is in q and q; write the table's name before it [a from (select 1 as a, 2 as a) q]");
}

TEST_F(NameResolutionTest, TableNameAppearsOnce) {
  EXPECT_EQ(error_of("select 1 from t, t"), "the table name t appears twice in FROM: give one an alias [t]");
  EXPECT_EQ(error_of("select 1 from t x join u x on true"), "the table name x appears twice in FROM: give one an alias [u x on true]");
  EXPECT_EQ(columns_of("select x.a, y.a from t x, t y"), "a INTEGER, a INTEGER");
  // An alias hides the table's own name.
  EXPECT_EQ(error_of("select t.a from t x"), "there is no column t.a; did you mean a? [t.a from t x]");
}

TEST_F(NameResolutionTest, InnerScopeHidesTheOuterOne) {
  // u.a, not t.a: the subquery is not correlated.
  EXPECT_EQ(plan_of("select a from t where exists (select 1 from u where a = 1)"), R"(
project a
  filter mark
    dependent mark join AS mark
      scan t(a, b, s, d)
      project 1 AS ?column?
        filter (a.2 = 1)
          scan u(a.2, c)
)");
  // b is only in t.
  EXPECT_EQ(plan_of("select a from t where exists (select 1 from u where c = b)"), R"(
project a
  filter mark
    dependent mark join AS mark
      scan t(a, b, s, d)
      project 1 AS ?column?
        filter (CAST(c AS BIGINT) = b)
          scan u(a.2, c)
)");
}

TEST_F(NameResolutionTest, ScopesEndWithTheirQuery) {
  EXPECT_EQ(error_of("select c from t where exists (select 1 from u)"),
            "there is no column c; did you mean a? [c from t where exists (select 1 from u)]");
  EXPECT_EQ(error_of("select 1 from t, (select u.c from u where u.a = t.a) q"), "there is no column t.a; did you mean a? [t.a) q]");
  EXPECT_EQ(error_of("with w as (select 1 as one) select 1 from (with v as (select 2) select * from v) q, v"),
            "there is no table v; there are Mixed, t, u [v]");
}

TEST_F(NameResolutionTest, LateralSeesTablesBeforeIt) {
  EXPECT_EQ(plan_of("select l.c from t, lateral (select u.c from u where u.a = t.a) l"), R"(
project c
  dependent inner join
    scan t(a, b, s, d)
    project c
      filter (a.2 = a)
        scan u(a.2, c)
)");
  EXPECT_EQ(error_of("select 1 from lateral (select t.a) l, t"), "there is no column t.a; there is no FROM [t.a) l, t]");
  // Without a reference it is a plain join.
  EXPECT_EQ(plan_of("select 1 from t, lateral (select c from u) l"), R"(
project 1 AS ?column?
  inner join
    scan t(a, b, s, d)
    project c
      scan u(a.2, c)
)");
  EXPECT_EQ(error_of("select 1 from t right join lateral (select t.a) l on true"),
            "LATERAL can be joined with JOIN, LEFT JOIN and CROSS JOIN only [select t.a) l on true]");
}

TEST_F(NameResolutionTest, OrderByPrefersOutputColumns) {
  EXPECT_EQ(plan_of("select b as a from t order by a"), R"(
sort by b
  project b
    scan t(a, b, s, d)
)");
  // Inside an expression, names refer to columns of the tables only.
  EXPECT_EQ(plan_of("select b as a from t order by a + 0"), R"(
project b
  sort by order
    project b, (a + 0) AS order
      scan t(a, b, s, d)
)");
  EXPECT_EQ(error_of("select a as x, b as x from t order by x"), "ORDER BY x is ambiguous [x]");
  EXPECT_EQ(error_of("select a from t order by 2"), "ORDER BY 2: there are 1 columns [2]");
  EXPECT_EQ(error_of("select a from t order by 0"), "ORDER BY 0: there are 1 columns [0]");
  EXPECT_EQ(error_of("select distinct a from t order by b"), "with DISTINCT, ORDER BY can use columns of the select list only [b]");
}

TEST_F(NameResolutionTest, OrderByOfSetOperationsNamesOutputOnly) {
  EXPECT_EQ(plan_of("select a from t union all select c from u order by a desc"), R"(
sort by a.5 DESC
  union all a.5
    project a AS a.3
      project a
        scan t(a, b, s, d)
    project CAST(c AS INTEGER) AS a.4
      project c
        scan u(a.2, c)
)");
  EXPECT_EQ(error_of("select a from t union all select c from u order by c"), "there is no column c; did you mean a? [c]");
}

TEST_F(NameResolutionTest, GroupByPrefersColumnsOfTables) {
  EXPECT_EQ(plan_of("select b + 1 as a, count(*) from t group by b + 1, a"), R"(
project group, count
  aggregate by group, a: count(*) AS count
    project a, b, s, d, (b + 1) AS group
      scan t(a, b, s, d)
)");
  EXPECT_EQ(plan_of("select a + 1 as x from t group by x"), R"(
project group
  aggregate by group
    project a, b, s, d, (a + 1) AS group
      scan t(a, b, s, d)
)");
  EXPECT_EQ(error_of("select a from t group by 2"), "GROUP BY 2: the select list has 1 columns [2]");
}

TEST_F(NameResolutionTest, GroupByRefusesAnAmbiguousAlias) {
  EXPECT_EQ(error_of("select 1 as x, b as x from t group by x"), "GROUP BY x is ambiguous [x]");
  EXPECT_EQ(error_of("select a as \"X\", b as \"x\" from t group by X"),
            "column a must be in GROUP BY or inside an aggregate [a as \"X\", b as \"x\" from t group by X]");
  EXPECT_EQ(columns_of("select b as x, b as x from t group by x"), "x BIGINT, x BIGINT");
}

TEST_F(NameResolutionTest, GroupByCountsTheColumnsOfAStar) {
  EXPECT_EQ(plan_of("select *, count(*) from u group by 1, 2"), R"(
project a, c, count
  aggregate by a, c: count(*) AS count
    scan u(a, c)
)");
  EXPECT_EQ(plan_of("select u.*, -c as n from u group by 2, 3, a"), R"(
project a, c, group
  aggregate by c, group, a
    project a, c, (-c) AS group
      scan u(a, c)
)");
  EXPECT_EQ(error_of("select * from u group by 3"), "GROUP BY 3: the select list has 2 columns [3]");
}

TEST_F(NameResolutionTest, UsingMergesColumns) {
  EXPECT_EQ(columns_of("select * from t join u using (a)"), "a INTEGER, b BIGINT, s VARCHAR, d DECIMAL(10,2), c SMALLINT");
  EXPECT_EQ(columns_of("select a, t.a, u.a from t full join u using (a)"), "a INTEGER, a INTEGER, a INTEGER");
  EXPECT_EQ(columns_of("select * from t natural join u"), "a INTEGER, b BIGINT, s VARCHAR, d DECIMAL(10,2), c SMALLINT");
  EXPECT_EQ(error_of("select * from t join u using (b)"), "USING (b): the right side has no such column [t join u using (b)]");
  EXPECT_EQ(error_of("select * from t join u using (a, a)"), "USING names a twice [t join u using (a, a)]");
  // The alias of a join hides its tables.
  EXPECT_EQ(columns_of("select j.a from (t join u using (a)) as j"), "a INTEGER");
  EXPECT_NE(error_of("select t.a from (t join u using (a)) as j"), "no error");
}

TEST_F(NameResolutionTest, UnquotedNamesMatchInAnyCase) {
  EXPECT_EQ(columns_of("select ID from mixed"), "id INTEGER");
  EXPECT_EQ(columns_of("select \"Name\" from MIXED"), "Name VARCHAR");
  EXPECT_EQ(error_of("select name from mixed"),
            "column name is ambiguous: it may be \"Name\" or \"NAME\"; write it in quotes [name from mixed]");
  EXPECT_NE(error_of("select \"ID\" from mixed"), "no error");
  EXPECT_NE(error_of("select 1 from \"MIXED\""), "no error");
  EXPECT_EQ(columns_of("select M.id from mixed as m"), "id INTEGER");
  // An exact match takes precedence.
  tables.add("mixed", {{"id", TypeKind::BigInt, ""}});
  EXPECT_EQ(columns_of("select Id from MiXeD"), "id BIGINT");
}

TEST_F(NameResolutionTest, CommonTablesHideTables) {
  EXPECT_EQ(columns_of("with t as (select 'x' as a) select a from t"), "a VARCHAR");
  // In its own definition the name still refers to the table.
  EXPECT_EQ(columns_of("with t as (select b from t) select * from t"), "b BIGINT");
  EXPECT_EQ(error_of("with w as (select 1), w as (select 2) select 1 from w").substr(0, 18), "WITH names w twice");
  EXPECT_EQ(error_of("with w(x, y) as (select 1) select 1 from w").substr(0, 45), "w has 1 columns, but 2 names are given [w(x, ");
}

TEST_F(NameResolutionTest, ViewsDoNotSeeCommonTables) {
  tables.add_view("v", "select a from u");
  EXPECT_EQ(columns_of("with u as (select 'x' as a) select a from v"), "a INTEGER");
  tables.add_view("w", "select nothing from u");
  EXPECT_EQ(error_of("select 1 from w"), "view w: there is no column nothing [w]");
  tables.add_view("x", "select * from x");
  EXPECT_EQ(error_of("select 1 from x"), "view x: the view x contains itself [x]");
  tables.add_view("y", "select a, c from u", {"first"});
  EXPECT_EQ(columns_of("select * from y"), "first INTEGER, c SMALLINT");
}

}  // namespace
}  // namespace pistachio
