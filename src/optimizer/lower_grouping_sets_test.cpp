#include "expr/expression.h"
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class LowerGroupingSetsTest : public RuleTest {
 protected:
  using Sets = std::vector<std::vector<std::string>>;

  LogicalPtr grouping_sets(const Sets& sets, std::vector<AggregateCall> calls, LogicalPtr child) {
    LogicalPtr made = grouped({"t.a", "t.b"}, std::move(calls), std::move(child));
    auto* node = made->as<LogicalAggregate>();
    for (const std::vector<std::string>& set : sets) {
      node->sets.emplace_back();
      for (const std::string& column : set) node->sets.back().push_back(id(column));
    }
    node->set_number = add("set");
    return made;
  }
  // One call over two sets of a table; the first line of the shared plan tells whether it groups.
  std::string shared_plan(const std::function<AggregateCall()>& call) {
    plan_ = {};
    LogicalPtr table = scan("t", {"a", "b", "c"});
    after("lower_grouping_sets", grouping_sets({{"t.a"}, {}}, {call()}, std::move(table)), {"x"});
    return LogicalPlanText(plan_).text(*plan_.shared.at(0), 0);
  }
  bool groups_first(const std::function<AggregateCall()>& call) { return shared_plan(call).starts_with("aggregate"); }
  bool groups_first(const std::string& function, LogicalType type = TypeKind::Integer, bool is_distinct = false) {
    return groups_first([&] {
      AggregateCall made = this->call(function, Expression::cast(value("t.c"), type), "x");
      made.distinct = is_distinct;
      return made;
    });
  }
};

TEST_F(LowerGroupingSetsTest, SetsCombineGroupsOfTheSharedPlan) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  std::vector<AggregateCall> calls = {call("count", nullptr, "n"), call("sum", value("t.c"), "total")};
  EXPECT_EQ(
      after("lower_grouping_sets", grouping_sets({{"t.a", "t.b"}, {"t.a"}, {}}, std::move(calls), std::move(table)), {"total", "set"}), R"(
common table 0:
  aggregate by t.a, t.b: count(*) AS n.2, sum(t.c) AS total.2
    scan t(t.a, t.b, t.c)
union all t.a, t.b, n, total, set
  union all t.a.8, t.b.8, n.12, total.12, set.5
    project t.a.2 AS t.a.3, t.b.2 AS t.b.3, coalesce(CAST(n.4 AS BIGINT), 0) AS n.5, CAST(total.4 AS BIGINT) AS total.5, 0 AS set.2
      aggregate by t.a.2, t.b.2: sum(n.3) AS n.4, sum(total.3) AS total.4
        read common table 0(t.a.2, t.b.2, n.3, total.3)
    project t.a.4 AS t.a.5, NULL AS t.b.5, coalesce(CAST(n.7 AS BIGINT), 0) AS n.8, CAST(total.7 AS BIGINT) AS total.8, 1 AS set.3
      aggregate by t.a.4: sum(n.6) AS n.7, sum(total.6) AS total.7
        read common table 0(t.a.4, t.b.4, n.6, total.6)
  project NULL AS t.a.7, NULL AS t.b.7, coalesce(CAST(n.10 AS BIGINT), 0) AS n.11, CAST(total.10 AS BIGINT) AS total.11, 2 AS set.4
    aggregate: sum(n.9) AS n.10, sum(total.9) AS total.10
      read common table 0(t.a.6, t.b.6, n.9, total.9)
)");
}

TEST_F(LowerGroupingSetsTest, OtherAggregatesShareTheRows) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  AggregateCall distinct = call("count", value("t.c"), "n");
  distinct.distinct = true;
  EXPECT_EQ(after("lower_grouping_sets", grouping_sets({{"t.b"}, {}}, {distinct}, std::move(table)), {"n"}), R"(
common table 0:
  scan t(t.a, t.b, t.c)
union all t.a, t.b, n, set
  project NULL AS t.a.3, t.b.2 AS t.b.3, n.2 AS n.3, 0 AS set.2
    aggregate by t.b.2: count(DISTINCT t.c.2) AS n.2
      read common table 0(t.a.2, t.b.2, t.c.2)
  project NULL AS t.a.5, NULL AS t.b.5, n.4 AS n.5, 1 AS set.3
    aggregate: count(DISTINCT t.c.3) AS n.4
      read common table 0(t.a.4, t.b.4, t.c.3)
)");
}

TEST_F(LowerGroupingSetsTest, OnlyPartialResultsThatCombineGroupFirst) {
  for (const char* function : {"sum", "count", "min", "max", "any_value", "bit_and", "bit_or", "bit_xor", "avg"})
    EXPECT_TRUE(groups_first(function)) << function;
  for (const char* function : {"stddev", "var_pop", "approx_count_distinct", "median", "mode", "first"})
    EXPECT_FALSE(groups_first(function)) << function;
  EXPECT_TRUE(groups_first("bool_and", TypeKind::Boolean));
  EXPECT_TRUE(groups_first("avg", TypeKind::Double));
  // A quotient of decimals would be rounded differently.
  EXPECT_FALSE(groups_first("avg", LogicalType::decimal(10, 2)));
}

TEST_F(LowerGroupingSetsTest, DistinctGroupsFirstOnlyWhereDuplicatesDoNotMatter) {
  for (const char* function : {"min", "max", "bit_and"}) EXPECT_TRUE(groups_first(function, TypeKind::Integer, true)) << function;
  for (const char* function : {"sum", "count", "avg", "bit_xor"}) EXPECT_FALSE(groups_first(function, TypeKind::Integer, true)) << function;
}

TEST_F(LowerGroupingSetsTest, FiltersApplyToRowsNotToGroups) {
  auto filtered = [&] {
    AggregateCall made = call("sum", value("t.c"), "x");
    made.filter = is("t.b > 3");
    return made;
  };
  EXPECT_TRUE(groups_first(filtered));
  EXPECT_EQ("\n" + LogicalPlanText(plan_).text(), R"(
common table 0:
  aggregate by t.a: sum(t.c) FILTER (t.b > 3) AS x.2
    scan t(t.a, t.b, t.c)
union all t.a, t.b, x, set
  project t.a.2 AS t.a.3, NULL AS t.b.2, CAST(x.4 AS BIGINT) AS x.5, 0 AS set.2
    aggregate by t.a.2: sum(x.3) AS x.4
      read common table 0(t.a.2, x.3)
  project NULL AS t.a.5, NULL AS t.b.3, CAST(x.7 AS BIGINT) AS x.8, 1 AS set.3
    aggregate: sum(x.6) AS x.7
      read common table 0(t.a.4, x.6)
)");
}

TEST_F(LowerGroupingSetsTest, MeansAreSumsAndCounts) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  EXPECT_EQ(after("lower_grouping_sets", grouping_sets({{"t.a"}, {}}, {call("avg", value("t.c"), "mean")}, std::move(table)), {"mean"}), R"(
common table 0:
  aggregate by t.a: sum(t.c) AS mean.2, count(t.c) AS mean.3
    scan t(t.a, t.b, t.c)
union all t.a, t.b, mean, set
  project t.a.2 AS t.a.3, NULL AS t.b.2, CASE WHEN (mean.7 > 0) THEN (CAST(mean.6 AS DOUBLE) / CAST(mean.7 AS DOUBLE)) ELSE NULL END AS mean.8, 0 AS set.2
    aggregate by t.a.2: sum(mean.4) AS mean.6, sum(mean.5) AS mean.7
      read common table 0(t.a.2, mean.4, mean.5)
  project NULL AS t.a.5, NULL AS t.b.3, CASE WHEN (mean.12 > 0) THEN (CAST(mean.11 AS DOUBLE) / CAST(mean.12 AS DOUBLE)) ELSE NULL END AS mean.13, 1 AS set.3
    aggregate: sum(mean.9) AS mean.11, sum(mean.10) AS mean.12
      read common table 0(t.a.4, mean.9, mean.10)
)");
}

TEST_F(LowerGroupingSetsTest, SingleSetIsAPlainGrouping) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  EXPECT_EQ(after("lower_grouping_sets", grouping_sets({{"t.a"}}, {call("count", nullptr, "n")}, std::move(table)), {"t.b", "n", "set"}),
            R"(
project t.a.2 AS t.a, t.b.2 AS t.b, n.3 AS n, set.2 AS set
  project t.a AS t.a.2, NULL AS t.b.2, n.2 AS n.3, 0 AS set.2
    aggregate by t.a: count(*) AS n.2
      scan t(t.a, t.b, t.c)
)");
}

TEST_F(LowerGroupingSetsTest, CorrelatedInputIsComputedForEachSet) {
  LogicalPtr outer = scan("o", {"a"});
  LogicalPtr table = filter({"t.c = o.a"}, scan("t", {"a", "b", "c"}));
  LogicalPtr inner = grouping_sets({{"t.a"}, {}}, {call("count", nullptr, "n")}, std::move(table));
  EXPECT_EQ(after("lower_grouping_sets", dependent(JoinKind::Inner, std::move(outer), std::move(inner)), {"n"}), R"(
dependent inner join
  scan o(o.a)
  union all t.a, t.b, n, set
    project t.a AS t.a.2, NULL AS t.b.2, n.2 AS n.3, 0 AS set.2
      aggregate by t.a: count(*) AS n.2
        filter (t.c = o.a)
          scan t(t.a, t.b, t.c)
    project NULL AS t.a.3, NULL AS t.b.3, n.4 AS n.5, 1 AS set.3
      aggregate: count(*) AS n.4
        filter (t.c = o.a)
          scan t(t.a, t.b, t.c)
)");
}

TEST_F(LowerGroupingSetsTest, SetsOfCommonTablesAreLowered) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  plan_.shared.push_back(grouping_sets({{"t.a"}, {"t.b"}}, {call("stddev", value("t.c"), "x")}, std::move(table)));
  const ColumnId source = id("x");
  LogicalPtr read = make_node(LogicalSharedRead{.shared = 0, .columns = {add("y", TypeKind::Double)}, .sources = {source}});
  EXPECT_EQ(after("lower_grouping_sets", std::move(read), {"y"}), R"(
common table 0:
  union all t.a, t.b, x, set
    project t.a.2 AS t.a.3, NULL AS t.b.3, x.2 AS x.3, 0 AS set.2
      aggregate by t.a.2: stddev(CAST(t.c.2 AS DOUBLE)) AS x.2
        read common table 1(t.a.2, t.b.2, t.c.2)
    project NULL AS t.a.5, t.b.4 AS t.b.5, x.4 AS x.5, 1 AS set.3
      aggregate by t.b.4: stddev(CAST(t.c.3 AS DOUBLE)) AS x.4
        read common table 1(t.a.4, t.b.4, t.c.3)
common table 1:
  scan t(t.a, t.b, t.c)
read common table 0(y)
)");
}

TEST_F(LowerGroupingSetsTest, PlainGroupingsStay) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  EXPECT_EQ(after("lower_grouping_sets", grouped({"t.a"}, {call("sum", value("t.c"), "x")}, std::move(table))), R"(
aggregate by t.a: sum(t.c) AS x
  scan t(t.a, t.b, t.c)
)");
}

}  // namespace
}  // namespace pistachio
