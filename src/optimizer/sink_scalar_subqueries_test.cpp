#include "expr/expression.h"
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class SinkScalarSubqueriesTest : public RuleTest {
 protected:
  // Rows of `child` with the value of a subquery: the column a of a table with this name.
  LogicalPtr with_value(LogicalPtr child, const std::string& name = "s") {
    return make_node(LogicalJoin{.kind = JoinKind::Single}, std::move(child), scan(name, {"a"}, 1));
  }
  LogicalPtr joined(JoinKind kind) { return join(kind, {"t.a = u.a"}, scan("t", {"a", "b"}), scan("u", {"a", "b"})); }
  // The plan of a condition over t, u and the value.
  std::string sunk(JoinKind kind, const std::function<std::vector<ExpressionPtr>()>& conditions) {
    plan_ = {};
    LogicalPtr rows = with_value(joined(kind));
    return after("sink_scalar_subqueries", make_node(LogicalFilter{conditions()}, std::move(rows)));
  }
  std::string sunk(JoinKind kind, const std::string& condition) {
    return sunk(kind, [&] { return all({condition}); });
  }
  bool sinks(JoinKind kind, const std::string& condition) { return !sunk(kind, condition).starts_with("\nfilter"); }
};

TEST_F(SinkScalarSubqueriesTest, ConditionAndValueMoveToTheComparedInput) {
  EXPECT_EQ(sunk(JoinKind::Inner, "u.b = s.a"), R"(
inner join on (t.a = u.a)
  scan t(t.a, t.b)
  filter (u.b = s.a)
    single join
      scan u(u.a, u.b)
      scan s(s.a)
)");
}

TEST_F(SinkScalarSubqueriesTest, OtherConditionsStayAboveWithTheValue) {
  EXPECT_EQ(sunk(JoinKind::Inner,
                 [&] {
                   return all({"t.b = u.b", "t.b = s.a", "u.b < s.a"});
                 }),
            R"(
filter (t.b = u.b) AND (u.b < s.a)
  inner join on (t.a = u.a)
    filter (t.b = s.a)
      single join
        scan t(t.a, t.b)
        scan s(s.a)
    scan u(u.a, u.b)
)");
}

TEST_F(SinkScalarSubqueriesTest, OnlyPreservedSidesOfOuterJoinsAreFiltered) {
  for (const auto& [kind, left, right] : {std::tuple(JoinKind::Inner, true, true), std::tuple(JoinKind::Left, true, false),
                                          std::tuple(JoinKind::Right, false, true), std::tuple(JoinKind::Full, false, false)}) {
    EXPECT_EQ(sinks(kind, "t.b = s.a"), left) << static_cast<int>(kind);
    EXPECT_EQ(sinks(kind, "u.b = s.a"), right) << static_cast<int>(kind);
  }
}

TEST_F(SinkScalarSubqueriesTest, SemiAndAntiJoinsFilterTheirLeftSide) {
  for (JoinKind kind : {JoinKind::Semi, JoinKind::Anti}) EXPECT_TRUE(sinks(kind, "t.b = s.a"));
}

TEST_F(SinkScalarSubqueriesTest, ConditionsOverBothInputsStay) {
  EXPECT_FALSE(sinks(JoinKind::Inner, "t.b = u.b"));
  auto sum = [&] { return std::vector{make_call("=", {is("t.b < u.b"), is("s.a < 5")})}; };
  EXPECT_TRUE(sunk(JoinKind::Inner, sum).starts_with("\nfilter"));
  // It compares the value with no input.
  EXPECT_FALSE(sinks(JoinKind::Inner, "s.a = 3"));
}

TEST_F(SinkScalarSubqueriesTest, ConditionsThatRaiseOrVaryStay) {
  auto quotient = [&] { return std::vector{make_call("=", {is("u.b / s.a"), value("1")})}; };
  EXPECT_TRUE(sunk(JoinKind::Inner, quotient).starts_with("\nfilter"));
  auto sampled = [&] {
    return std::vector{Expression::logical(
        ExpressionKind::Or, {is("u.b = s.a"), make_call("<", {make_call("random", {}), Expression::cast(value("1"), TypeKind::Double)})})};
  };
  EXPECT_TRUE(sunk(JoinKind::Inner, sampled).starts_with("\nfilter"));
}

TEST_F(SinkScalarSubqueriesTest, CorrelatedSubqueriesStay) {
  LogicalPtr rows = joined(JoinKind::Inner);
  LogicalPtr subquery = scan("s", {"a", "b"});
  LogicalPtr single = join(JoinKind::Single, {"t.a = s.b"}, std::move(rows), std::move(subquery));
  EXPECT_TRUE(after("sink_scalar_subqueries", filter({"u.b = s.a"}, std::move(single))).starts_with("\nfilter"));
}

TEST_F(SinkScalarSubqueriesTest, LimitsAndGroupsStopTheValue) {
  LogicalPtr rows = limit(5, joined(JoinKind::Inner));
  EXPECT_TRUE(after("sink_scalar_subqueries", filter({"u.b = s.a"}, with_value(std::move(rows)))).starts_with("\nfilter"));
  plan_ = {};
  rows = joined(JoinKind::Inner);
  rows = grouped({"u.b"}, {call("count", nullptr, "n")}, std::move(rows));
  EXPECT_TRUE(after("sink_scalar_subqueries", filter({"u.b = s.a"}, with_value(std::move(rows)))).starts_with("\nfilter"));
}

TEST_F(SinkScalarSubqueriesTest, ValuesPassFiltersAndSeveralJoins) {
  LogicalPtr rows = filter({"t.b < 9"}, joined(JoinKind::Inner));
  rows = join(JoinKind::Left, {"t.a = v.a"}, std::move(rows), scan("v", {"a"}));
  EXPECT_EQ(after("sink_scalar_subqueries", filter({"u.b = s.a"}, with_value(std::move(rows)))), R"(
left join on (t.a = v.a)
  filter (t.b < 9)
    inner join on (t.a = u.a)
      scan t(t.a, t.b)
      filter (u.b = s.a)
        single join
          scan u(u.a, u.b)
          scan s(s.a)
  scan v(v.a)
)");
}

TEST_F(SinkScalarSubqueriesTest, SeveralSubqueriesSinkSeparately) {
  LogicalPtr rows = with_value(with_value(joined(JoinKind::Inner), "r"), "s");
  EXPECT_EQ(after("sink_scalar_subqueries", filter({"u.b = s.a", "t.b > r.a"}, std::move(rows))), R"(
inner join on (t.a = u.a)
  filter (t.b > r.a)
    single join
      scan t(t.a, t.b)
      scan r(r.a)
  filter (u.b = s.a)
    single join
      scan u(u.a, u.b)
      scan s(s.a)
)");
}

TEST_F(SinkScalarSubqueriesTest, ComparedSubqueriesStayTogether) {
  LogicalPtr rows = with_value(with_value(joined(JoinKind::Inner), "r"), "s");
  EXPECT_EQ(after("sink_scalar_subqueries", filter({"r.a = s.a"}, std::move(rows))), R"(
filter (r.a = s.a)
  single join
    single join
      inner join on (t.a = u.a)
        scan t(t.a, t.b)
        scan u(u.a, u.b)
      scan r(r.a)
    scan s(s.a)
)");
}

}  // namespace
}  // namespace pistachio
