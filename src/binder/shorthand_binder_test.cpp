// Stars, COLUMNS, aliases, grouping sets and ordered aggregates: types of the results, and errors with their position.
#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

class ShorthandBinderTest : public BindTest {};

TEST_F(ShorthandBinderTest, StarsAreExpanded) {
  EXPECT_EQ(columns_of("select * exclude (b, s) rename (d as price) from t"), "a INTEGER, price DECIMAL(10,2)");
  EXPECT_EQ(columns_of("select * exclude (s, d) replace (a + b as a) from t"), "a BIGINT, b BIGINT");
  EXPECT_EQ(columns_of("select columns('[ab]') from t"), "a INTEGER, b BIGINT");
  EXPECT_EQ(columns_of("select max(columns(['d', 'a'])) from t"), "max INTEGER, max DECIMAL(10,2)");
  EXPECT_EQ(columns_of("select t.* exclude (t.a), u.* from t, u"), "b BIGINT, s VARCHAR, d DECIMAL(10,2), a INTEGER, c SMALLINT");
}

TEST_F(ShorthandBinderTest, StarsAreRefusedAtTheirPosition) {
  EXPECT_EQ(error_of("select a, * exclude (zz) from t"), "EXCLUDE names a column that * does not have: zz [* exclude (zz) from t]");
  EXPECT_EQ(error_of("select columns('(') from t"), "invalid regular expression: missing ): ( [columns('(') from t]");
  EXPECT_EQ(error_of("select 1 + columns('z') from t"), "COLUMNS matches no column [+ columns('z') from t]");
}

TEST_F(ShorthandBinderTest, AliasesOfTheSelectList) {
  EXPECT_EQ(columns_of("select a + b as x, x * 2 as y from t where x > 1"), "x BIGINT, y BIGINT");
  EXPECT_EQ(columns_of("select s as x, sum(a) as y from t group by all having y > 1 and x <> ''"), "x VARCHAR, y BIGINT");
  EXPECT_EQ(error_of("select y as x, a as y from t"), "there is no column y; did you mean a? [y as x, a as y from t]");
}

TEST_F(ShorthandBinderTest, GroupingSets) {
  EXPECT_EQ(columns_of("select a, s, grouping(a, s), count(*) from t group by cube (a, s)"),
            "a INTEGER, s VARCHAR, grouping INTEGER, count BIGINT");
  EXPECT_EQ(error_of("select grouping(b) from t group by rollup (a)"),
            "the arguments of grouping must be expressions of GROUP BY [b) from t group by rollup (a)]");
  EXPECT_EQ(error_of("select grouping(a) from t"), "grouping needs GROUP BY and cannot be used here [grouping(a) from t]");
}

TEST_F(ShorthandBinderTest, OrderedAggregates) {
  EXPECT_EQ(
      columns_of(
          "select median(a), quantile_disc(d, 0.5), mode(s), first(s order by a), string_agg(a, ','), corr(a, d), regr_count(a, b) from t"),
      "median DOUBLE, quantile_disc DECIMAL(10,2), mode VARCHAR, first VARCHAR, string_agg VARCHAR, corr DOUBLE, regr_count BIGINT");
  EXPECT_EQ(error_of("select quantile_cont(a, 2) from t"), "the fraction of quantile_cont must be between 0 and 1 [2) from t]");
  EXPECT_EQ(error_of("select a, corr(s, a) from t group by a"), "corr does not take VARCHAR [corr(s, a) from t group by a]");
  EXPECT_EQ(error_of("select percentile_cont(0.5) from t"),
            "percentile_cont is written percentile_cont(fraction DOUBLE) WITHIN GROUP (ORDER BY x) [percentile_cont(0.5) from t]");
  EXPECT_EQ(error_of("select median(a) over () from t"), "median with OVER is not supported [median(a) over () from t]");
}

TEST_F(ShorthandBinderTest, RowsOfSeries) {
  EXPECT_EQ(columns_of("select * from range(5)"), "range BIGINT");
  EXPECT_EQ(columns_of("select * from generate_series(1, 5) as n"), "n BIGINT");
  EXPECT_EQ(error_of("select * from range(1, 5, 0)"), "the step of range must not be 0 [range(1, 5, 0)]");
}

TEST_F(ShorthandBinderTest, ComputedLimits) {
  EXPECT_EQ(error_of("select a from t limit (select s from t)"), "LIMIT needs a whole number [(select s from t)]");
  EXPECT_EQ(error_of("select a from t limit -1"), "LIMIT must not be negative [-1]");
}

TEST_F(ShorthandBinderTest, MisspeltFunctionsGetASuggestion) {
  EXPECT_EQ(error_of("select lenght(s) from t"), "there is no function lenght; did you mean length? [lenght(s) from t]");
  EXPECT_EQ(error_of("select medain(a) from t"), "there is no function medain; did you mean median? [medain(a) from t]");
}

}  // namespace
}  // namespace pistachio
