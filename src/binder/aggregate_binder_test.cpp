#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

using AggregateBinderTest = BindTest;

TEST_F(AggregateBinderTest, MisplacedAggregatesAreRejected) {
  EXPECT_EQ(error_of("select a from t where count(*) > 1"), "the aggregate count cannot be used in WHERE: use HAVING [count(*) > 1]");
  EXPECT_EQ(error_of("select 1 from t group by sum(a)"), "the aggregate sum cannot be used in GROUP BY [sum(a)]");
  EXPECT_EQ(error_of("select sum(a) from t group by 1"), "the aggregate sum cannot be used in GROUP BY [sum(a) from t group by 1]");
  EXPECT_EQ(error_of("select sum(count(*)) from t"), "the aggregate count cannot be used inside another aggregate [count(*)) from t]");
  EXPECT_EQ(error_of("select 1 from t join u on max(t.a) = 1"), "the aggregate max cannot be used in an ON clause [max(t.a) = 1]");
  EXPECT_EQ(error_of("select 1 from t limit count(*)"), "the aggregate count cannot be used in LIMIT or OFFSET [count(*)]");
  EXPECT_EQ(error_of("values (count(*))"), "the aggregate count cannot be used in VALUES [count(*))]");
  EXPECT_NE(error_of("select count(*) filter (where count(*) > 1) from t"), "no error");
}

TEST_F(AggregateBinderTest, ColumnsBesideAggregatesMustBeGrouped) {
  EXPECT_EQ(error_of("select sum(a) + b from t"), "column b must be in GROUP BY or inside an aggregate [b from t]");
  EXPECT_EQ(error_of("select a from t having count(*) > 1"),
            "column a must be in GROUP BY or inside an aggregate [a from t having count(*) > 1]");
  EXPECT_EQ(error_of("select count(*) from t having a > 1"), "column a must be in GROUP BY or inside an aggregate [a > 1]");
  EXPECT_EQ(error_of("select count(*) from t group by a order by b"), "column b must be in GROUP BY or inside an aggregate [b]");
  EXPECT_EQ(error_of("select * from u group by a"), "column c must be in GROUP BY or inside an aggregate [* from u group by a]");
  EXPECT_EQ(error_of("select (select t.b) from t group by a"),
            "column b must be in GROUP BY or inside an aggregate [(select t.b) from t group by a]");
}

TEST_F(AggregateBinderTest, GroupExpressionsMatchAsWhole) {
  EXPECT_EQ(plan_of("select a + 1, (a + 1) * 2 from t group by a + 1"), R"(
project group, (group * 2) AS ?column?
  aggregate by group
    project a, b, s, d, (a + 1) AS group
      scan t(a, b, s, d)
)");
  // 1 + a is another expression.
  EXPECT_EQ(error_of("select 1 + a from t group by a + 1"),
            "column a must be in GROUP BY or inside an aggregate [a from t group by a + 1]");
  EXPECT_EQ(error_of("select a + 2 from t group by a + 1"),
            "column a must be in GROUP BY or inside an aggregate [a + 2 from t group by a + 1]");
}

TEST_F(AggregateBinderTest, EqualCallsAreComputedOnce) {
  EXPECT_EQ(plan_of("select sum(a), sum(a) + 1, sum(distinct a), sum(a) filter (where b > 0) from t having sum(a) > 0 order by sum(a)"), R"(
sort by sum
  project sum, (sum + 1) AS ?column?, sum.2, sum.3
    filter (sum > 0)
      aggregate: sum(a) AS sum, sum(DISTINCT a) AS sum.2, sum(a) FILTER (b > 0) AS sum.3
        scan t(a, b, s, d)
)");
  // Two calls of random() are not equal.
  EXPECT_EQ(plan_of("select sum(random()), sum(random()) from u"), R"(
project sum, sum.2
  aggregate: sum(random()) AS sum, sum(random()) AS sum.2
    scan u(a, c)
)");
}

TEST_F(AggregateBinderTest, HavingAloneMakesOneGroup) {
  EXPECT_EQ(plan_of("select 1 from u having true"), R"(
project 1 AS ?column?
  filter true
    aggregate
      scan u(a, c)
)");
  EXPECT_EQ(plan_of("select count(*)"), R"(
project count
  aggregate: count(*) AS count
    values() of 1 rows
)");
}

TEST_F(AggregateBinderTest, AggregateBelongsToTheQueryOfItsColumns) {
  // Only columns of the outer query: the outer query aggregates. It is bound again once that is known.
  EXPECT_EQ(plan_of("select (select max(t.a)) from t"), R"(
project max.4
  dependent single join
    aggregate: max(a.2) AS max.3
      scan t(a.2, b.2, s.2, d.2)
    project max.3 AS max.4
      values() of 1 rows
)");
  EXPECT_EQ(error_of("select 1 from t where exists (select max(t.a) from u)"),
            "the aggregate max belongs to the outer query whose columns it uses, and there it cannot be used in WHERE [max(t.a) from u)]");
  // With a column of the subquery it belongs to the subquery.
  EXPECT_EQ(plan_of("select (select max(t.a + c) from u) from t"), R"(
project max
  dependent single join
    scan t(a, b, s, d)
    project max
      aggregate: max((a + CAST(c AS INTEGER))) AS max
        scan u(a.2, c)
)");
}

TEST_F(AggregateBinderTest, DistinctAndDistinctOn) {
  EXPECT_EQ(plan_of("select distinct c from u order by c"), R"(
sort by c
  aggregate by c
    project c
      scan u(a, c)
)");
  EXPECT_EQ(plan_of("select distinct on (a) c from u order by a, c desc"), R"(
project c
  sort by a, c DESC
    limit 1 of each a by a, c DESC
      project c, a
        scan u(a, c)
)");
}

}  // namespace
}  // namespace pistachio
