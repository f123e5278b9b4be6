#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

using WindowBinderTest = BindTest;

TEST_F(WindowBinderTest, CallsWithCompatibleOrdersShareANode) {
  EXPECT_EQ(plan_of("select rank() over (partition by a order by b), sum(b) over (partition by a), rank() over (partition by a order by b, s) from t"), R"(
project rank, sum, rank.2
  window by a order b, s: rank() of 1 keys AS rank, sum(b) of 0 keys AS sum, rank() AS rank.2
    scan t(a, b, s, d)
)");
  EXPECT_EQ(plan_of("select rank() over (order by a), rank() over (order by a desc) from u"), R"(
project rank, rank.2
  window order a DESC: rank() AS rank.2
    window order a: rank() AS rank
      scan u(a, c)
)");
}

TEST_F(WindowBinderTest, NodesAreStackedByPartitionColumns) {
  EXPECT_EQ(plan_of("select count(*) over (), count(*) over (partition by a, c), count(*) over (partition by c) from u"), R"(
project count, count.2, count.3
  window: count(*) AS count
    window by a, c: count(*) AS count.2
      window by c: count(*) AS count.3
        scan u(a, c)
)");
}

TEST_F(WindowBinderTest, EqualCallsAreComputedOnce) {
  EXPECT_EQ(plan_of("select sum(a) over w, sum(a) over (partition by c) + 1 from u window w as (partition by c) qualify sum(a) over w > 0"), R"(
project sum, (sum + 1) AS ?column?
  filter (sum > 0)
    window by c: sum(a) AS sum
      scan u(a, c)
)");
  // Two calls of random() are not equal.
  EXPECT_EQ(plan_of("select sum(random()) over (), sum(random()) over () from u"), R"(
project sum, sum.2
  window: sum(random()) AS sum, sum(random()) AS sum.2
    scan u(a, c)
)");
}

TEST_F(WindowBinderTest, WindowsAreAboveTheGrouping) {
  EXPECT_EQ(plan_of("select c, sum(count(*)) over (order by max(a)) from u group by c having min(a) > 0"), R"(
project c, sum
  window order max: sum(count) AS sum
    filter (min > 0)
      aggregate by c: count(*) AS count, max(a) AS max, min(a) AS min
        scan u(a, c)
)");
  EXPECT_EQ(error_of("select rank() over (order by a) from u group by c"),
            "column a must be in GROUP BY or inside an aggregate [a) from u group by c]");
}

TEST_F(WindowBinderTest, PartitionExpressionsAreComputedBelow) {
  EXPECT_EQ(plan_of("select rank() over (partition by a % 2, 1), rank() over (partition by a % 2 order by c) from u"), R"(
project rank, rank.2
  window by partition order c: rank() of 0 keys AS rank, rank() AS rank.2
    project *, (a % 2) AS partition
      scan u(a, c)
)");
}

TEST_F(WindowBinderTest, BoundsOfRangeAreValuesOfTheKey) {
  EXPECT_EQ(plan_of("select count(*) over (order by c desc range between 1 preceding and 2 following) from u"), R"(
project count
  window order c DESC: count(*) RANGE BETWEEN (CAST(c AS BIGINT) + 1) AND (CAST(c AS BIGINT) - 2) AS count
    scan u(a, c)
)");
}

TEST_F(WindowBinderTest, ResultTypesAreThoseOfPostgres) {
  EXPECT_EQ(columns_of("select row_number() over (), percent_rank() over (), cume_dist() over (), ntile(2) over (), lag(c, 1, a) over (), "
                       "first_value(s) over (), nth_value(d, 2) over (), sum(b) over (), lag('x') over () from t, u as v(e, c)"),
            "row_number BIGINT, percent_rank DOUBLE, cume_dist DOUBLE, ntile INTEGER, lag INTEGER, first_value VARCHAR, nth_value DECIMAL(10,2), "
            "sum DECIMAL(38,0), lag VARCHAR");
}

TEST_F(WindowBinderTest, MisplacedWindowsAreRejectedWithTheirPosition) {
  EXPECT_EQ(error_of("select a from t where rank() over () = 1"),
            "the window function rank cannot be used in WHERE: use QUALIFY [rank() over () = 1]");
  EXPECT_EQ(error_of("select sum(rank() over ()) from t"), "the window function rank cannot be used inside an aggregate [rank() over ()) from t]");
  EXPECT_EQ(error_of("select sum(a) over (order by rank() over ()) from t"),
            "the window function rank cannot be used inside another window function [rank() over ()) from t]");
  EXPECT_EQ(error_of("select 1 from t group by rank() over ()"), "the window function rank cannot be used in GROUP BY [rank() over ()]");
  EXPECT_EQ(error_of("select 1 from t having rank() over () = 1"),
            "the window function rank cannot be used in HAVING: use QUALIFY [rank() over () = 1]");
  EXPECT_EQ(error_of("select 1 from t join u on rank() over () = 1"), "the window function rank cannot be used in an ON clause [rank() over () = 1]");
  EXPECT_EQ(error_of("values (rank() over ())"), "the window function rank cannot be used in VALUES [rank() over ())]");
  EXPECT_EQ(error_of("select rank() from t"), "the window function rank needs OVER [rank() from t]");
}

TEST_F(WindowBinderTest, QualifyMayUseAliasesOfTheSelectList) {
  EXPECT_EQ(plan_of("select a + 1 as n, rank() over (order by c) as r from u qualify r < n and a > 0"), R"(
project (a + 1) AS n, rank
  filter (rank < CAST((a + 1) AS BIGINT)) AND (a > 0)
    window order c: rank() AS rank
      scan u(a, c)
)");
  // A column of the tables takes precedence.
  EXPECT_EQ(error_of("select rank() over () as c from u qualify c = 'x'"), "'x' is not a valid SMALLINT ['x']");
}

}  // namespace
}  // namespace pistachio
