#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class UnnestSubqueriesTest : public RuleTest {
 protected:
  AggregateCall greatest(const std::string& name, ExpressionPtr argument) {
    AggregateCall call;
    call.function = find_aggregate("max");
    call.type = argument->type();
    call.id = add(name, call.type);
    call.argument = std::move(argument);
    return call;
  }
};

TEST_F(UnnestSubqueriesTest, ConditionsAtTheTopAreJoinConditions) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  right = filter({"u.a = t.a", "u.a > 1"}, std::move(right));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Mark, std::move(left), std::move(right))), R"(
mark join on (u.a = t.a) AS mark
  scan t(t.a)
  filter (u.a > 1)
    scan u(u.a)
)");
}

TEST_F(UnnestSubqueriesTest, ExistenceNeedsNoOrderNorColumns) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a", "b"});
  right = filter({"u.a = t.a"}, std::move(right));
  right = limit(3, sort("u.b", std::move(right)));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Mark, std::move(left), std::move(right))), R"(
mark join on (u.a = t.a) AS mark
  scan t(t.a)
  scan u(u.a, u.b)
)");
  // LIMIT 0 has no rows for any outer value.
  plan_ = {};
  left = scan("t", {"a"});
  right = scan("u", {"a"});
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Mark, std::move(left), limit(0, std::move(right)))), R"(
mark join AS mark
  scan t(t.a)
  limit 0
    scan u(u.a)
)");
}

TEST_F(UnnestSubqueriesTest, WindowsArePartitionedByTheOuterValue) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = filter({"u.a = t.a"}, scan("u", {"a", "b"}));
  right = window({"u.b"}, "u.a", "n", std::move(right));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Inner, std::move(left), std::move(right)), {"n"}), R"(
inner join on is not distinct from(t.a, t.a.2)
  scan t(t.a)
  window by u.b, t.a.2 order u.a: row_number() AS n
    filter is not null(t.a.2)
      project u.a, u.b, u.a AS t.a.2
        scan u(u.a, u.b)
)");
}

TEST_F(UnnestSubqueriesTest, EquatedColumnReplacesTheOuterOne) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = filter({"u.a = t.a"}, scan("u", {"a", "b"}));
  LogicalAggregate node;
  node.calls.push_back(greatest("m", value("u.b")));
  right = make_node(std::move(node), std::move(right));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Single, std::move(left), std::move(right)), {"m"}), R"(
single join on is not distinct from(t.a, t.a.2)
  scan t(t.a)
  aggregate by t.a.2: max(u.b) AS m
    filter is not null(t.a.2)
      project u.a, u.b, u.a AS t.a.2
        scan u(u.a, u.b)
)");
}

TEST_F(UnnestSubqueriesTest, CountIsZeroWhereNothingMatches) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  right = aggregate({}, "n", filter({"u.a = t.a"}, std::move(right)));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Single, std::move(left), std::move(right)), {"n"}), R"(
common table 0:
  scan t(t.a)
single join on is not distinct from(t.a, t.a.3)
  read common table 0(t.a)
  project coalesce(count, 0) AS n, t.a.3
    left join on is not distinct from(t.a.3, t.a.2)
      aggregate by t.a.3
        read common table 0(t.a.3)
      aggregate by t.a.2: count(*) AS count
        filter is not null(t.a.2)
          project u.a, u.a AS t.a.2
            scan u(u.a)
)");
}

TEST_F(UnnestSubqueriesTest, LimitCountsTheRowsOfEachOuterValue) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a", "b"});
  right = limit(1, sort("u.b", filter({"u.a = t.a"}, std::move(right))));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Inner, std::move(left), std::move(right))), R"(
inner join on is not distinct from(t.a, t.a.2)
  scan t(t.a)
  limit 1 of each t.a.2 by u.b
    filter is not null(t.a.2)
      project u.a, u.b, u.a AS t.a.2
        scan u(u.a, u.b)
)");
}

TEST_F(UnnestSubqueriesTest, IndependentSubqueryIsAPlainJoin) {
  LogicalPtr left = scan("t", {"a"});
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Single, std::move(left), scan("u", {"a"}))), R"(
single join
  scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(UnnestSubqueriesTest, EqualOuterValuesWithDifferentTextStayDistinct) {
  // 0.0 and -0.0 are the same value in the domain, but have different text.
  LogicalPtr left = scan("t", {"f"}, 1, TypeKind::Double);
  LogicalPtr right = scan("u", {"a"});
  right = filter({"u.a > 1"}, std::move(right));
  right = limit(1, project({{"x", Expression::cast(value("t.f"), TypeKind::Varchar)}}, std::move(right)));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Inner, std::move(left), std::move(right)), {"x"}), R"(
common table 0:
  project CAST(t.f AS VARCHAR) AS t.f text, t.f
    scan t(t.f)
inner join on is not distinct from(t.f, t.f.2) AND is not distinct from(t.f text, t.f text.2)
  read common table 0(t.f text, t.f)
  limit 1 of each t.f.2, t.f text.2
    project CAST(t.f.2 AS VARCHAR) AS x, t.f.2, t.f text.2
      inner join
        aggregate by t.f.2, t.f text.2
          read common table 0(t.f.2, t.f text.2)
        filter (u.a > 1)
          scan u(u.a)
)");
}

TEST_F(UnnestSubqueriesTest, ComparedOuterValuesNeedNoText) {
  LogicalPtr left = scan("t", {"f"}, 1, TypeKind::Double);
  LogicalPtr right = scan("u", {"f"}, 1, TypeKind::Double);
  right = limit(1, filter({"u.f = t.f"}, std::move(right)));
  EXPECT_EQ(after("unnest_subqueries", dependent(JoinKind::Inner, std::move(left), std::move(right))), R"(
inner join on is not distinct from(t.f, t.f.2)
  scan t(t.f)
  limit 1 of each t.f.2
    filter is not null(t.f.2)
      project u.f, u.f AS t.f.2
        scan u(u.f)
)");
}

}  // namespace
}  // namespace pistachio
