#include "expr/expression.h"
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

using PushDownFiltersTest = RuleTest;

TEST_F(PushDownFiltersTest, ConditionsOfAProductBecomeItsKeys) {
  LogicalPtr product = join(JoinKind::Inner, {}, scan("t", {"a", "b"}), scan("u", {"a"}));
  EXPECT_EQ(after("push_down_filters", filter({"t.a = u.a", "t.b > 1", "u.a < 5", "1 = 2"}, std::move(product))), R"(
inner join on (t.a = u.a)
  filter (t.b > 1) AND (1 = 2)
    scan t(t.a, t.b)
  filter (u.a < 5)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, FiltersOnOptionalSideStayAboveOuterJoin) {
  // IS NULL is true for NULL-padded rows: the join stays outer, and the condition cannot be pushed down.
  LogicalPtr joined = join(JoinKind::Left, {"t.a = u.a", "u.a > 1", "t.b = 2"}, scan("t", {"a", "b"}), scan("u", {"a"}));
  LogicalPtr root = make_node(LogicalFilter{{make_call("is null", {value("u.a")}), is("t.b < 5")}}, std::move(joined));
  EXPECT_EQ(after("push_down_filters", std::move(root)), R"(
filter is null(u.a)
  left join on (t.a = u.a) AND (t.b = 2)
    filter (t.b < 5)
      scan t(t.a, t.b)
    filter (u.a > 1)
      scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, FilterThatRejectsNullMakesInnerJoins) {
  auto full = [&] { return join(JoinKind::Full, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a"})); };
  LogicalPtr joined = full();
  EXPECT_EQ(after("push_down_filters", filter({"u.a > 1"}, std::move(joined))), R"(
right join on (t.a = u.a)
  scan t(t.a)
  filter (u.a > 1)
    scan u(u.a)
)");
  plan_ = {};
  joined = full();
  EXPECT_EQ(after("push_down_filters", filter({"t.a < u.a"}, std::move(joined))), R"(
inner join on (t.a < u.a) AND (t.a = u.a)
  scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, JoinAboveThatRejectsNullMakesInnerJoins) {
  auto outer = [&] { return join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a", "b"})); };
  LogicalPtr left = outer();
  EXPECT_EQ(after("push_down_filters", join(JoinKind::Inner, {"u.b = v.a"}, std::move(left), scan("v", {"a"}))), R"(
inner join on (u.b = v.a)
  inner join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a, u.b)
  scan v(v.a)
)");
  // Also through another join, and below the optional side of an outer join.
  plan_ = {};
  left = outer();
  left = join(JoinKind::Inner, {"t.a = w.a"}, std::move(left), scan("w", {"a"}));
  EXPECT_EQ(after("push_down_filters", join(JoinKind::Right, {"u.b = v.a"}, std::move(left), scan("v", {"a"}))), R"(
right join on (u.b = v.a)
  inner join on (t.a = w.a)
    inner join on (t.a = u.a)
      scan t(t.a)
      scan u(u.a, u.b)
    scan w(w.a)
  scan v(v.a)
)");
}

TEST_F(PushDownFiltersTest, RowPreservingJoinAboveKeepsOuterJoins) {
  for (JoinKind kind : {JoinKind::Left, JoinKind::Full, JoinKind::Anti}) {
    plan_ = {};
    LogicalPtr left = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a", "b"}));
    std::string text = after("push_down_filters", join(kind, {"u.b = v.a"}, std::move(left), scan("v", {"a"})));
    EXPECT_NE(text.find("  left join on (t.a = u.a)"), std::string::npos) << text;
  }
  // NULL is not distinct from NULL: rows without a match may pass.
  plan_ = {};
  LogicalPtr left = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a", "b"}));
  std::string text = after("push_down_filters", join(JoinKind::Inner, {"u.b is not distinct from v.a"}, std::move(left), scan("v", {"a"})));
  EXPECT_NE(text.find("  left join on (t.a = u.a)"), std::string::npos) << text;
}

TEST_F(PushDownFiltersTest, DisjunctionRejectsNullOnlyIfAllParts) {
  LogicalPtr joined = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a", "b"}));
  ExpressionPtr either = Expression::logical(ExpressionKind::Or, {is("u.b > 1"), is("t.a = 3")});
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{either}}, std::move(joined))), R"(
filter ((u.b > 1) OR (t.a = 3))
  left join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a, u.b)
)");
  plan_ = {};
  joined = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a", "b"}));
  either = Expression::logical(ExpressionKind::Or, {is("u.b > 1"), is("u.a = 3")});
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{either}}, std::move(joined))), R"(
inner join on (t.a = u.a)
  scan t(t.a)
  filter ((u.b > 1) OR (u.a = 3))
    scan u(u.a, u.b)
)");
}

TEST_F(PushDownFiltersTest, AntiJoinKeepsConditionsOnItsLeftSide) {
  LogicalPtr joined = join(JoinKind::Anti, {"t.a = u.a", "t.a > 1", "u.a > 2"}, scan("t", {"a"}), scan("u", {"a"}));
  EXPECT_EQ(after("push_down_filters", filter({"t.a < 9"}, std::move(joined))), R"(
anti join on (t.a = u.a) AND (t.a > 1)
  filter (t.a < 9)
    scan t(t.a)
  filter (u.a > 2)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, MarkThatMustHoldIsASemiJoin) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  LogicalJoin mark{.kind = JoinKind::Mark, .comparisons = all({"t.a = u.a"}), .mark = add("m", TypeKind::Boolean)};
  LogicalPtr joined = make_node(mark, std::move(left), std::move(right));
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{value("m")}}, std::move(joined)), {"t.a"}), R"(
project t.a, true AS m
  semi join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, NotInStaysAMark) {
  // Its comparisons may be NULL: an anti join would keep rows that NOT IN drops.
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  LogicalJoin mark{.kind = JoinKind::Mark, .comparisons = all({"t.a = u.a"}), .mark = add("m", TypeKind::Boolean)};
  LogicalPtr joined = make_node(mark, std::move(left), std::move(right));
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{make_call("not", {value("m")})}}, std::move(joined))), R"(
filter not(m)
  mark join comparing (t.a = u.a) AS m
    scan t(t.a)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, NotExistsIsAnAntiJoin) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  LogicalJoin mark{.kind = JoinKind::Mark, .conditions = all({"t.a = u.a"}), .mark = add("m", TypeKind::Boolean)};
  LogicalPtr joined = make_node(mark, std::move(left), std::move(right));
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{make_call("not", {value("m")})}}, std::move(joined)), {"t.a"}), R"(
project t.a, false AS m
  anti join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, OnlyConditionsOnGroupsPassAnAggregate) {
  LogicalPtr table = scan("t", {"a", "b"});
  LogicalPtr grouped = aggregate({"t.a"}, "n", std::move(table));
  EXPECT_EQ(after("push_down_filters", filter({"t.a > 1", "n > 2"}, std::move(grouped))), R"(
filter (n > 2)
  aggregate by t.a: count(*) AS n
    filter (t.a > 1)
      scan t(t.a, t.b)
)");
  // Without groups there is a row even for empty input.
  plan_ = {};
  grouped = aggregate({}, "n", scan("t", {"a"}));
  EXPECT_EQ(after("push_down_filters", filter({"1 = 2"}, std::move(grouped))), R"(
filter (1 = 2)
  aggregate: count(*) AS n
    scan t(t.a)
)");
}

TEST_F(PushDownFiltersTest, ProjectionsThatMayRaiseKeepTheirConditions) {
  LogicalPtr child = scan("t", {"a", "b"});
  ExpressionPtr quotient = make_call("/", {value("t.a"), value("t.b")});
  LogicalPtr projected = project({{"q", quotient}, {"t.a", nullptr}}, std::move(child));
  EXPECT_EQ(after("push_down_filters", filter({"q > 1", "t.a > 2"}, std::move(projected))), R"(
filter (q > 1)
  project (t.a / t.b) AS q, t.a
    filter (t.a > 2)
      scan t(t.a, t.b)
)");
}

TEST_F(PushDownFiltersTest, LimitsStopConditions) {
  LogicalPtr limited = limit(5, scan("t", {"a"}));
  EXPECT_EQ(after("push_down_filters", filter({"t.a > 1"}, std::move(limited))), R"(
filter (t.a > 1)
  limit 5
    scan t(t.a)
)");
}

TEST_F(PushDownFiltersTest, BothInputsOfAUnionAreFiltered) {
  LogicalPtr first = scan("t", {"a"});
  LogicalPtr second = scan("u", {"a"});
  LogicalPtr both = set_operation(LogicalSetOperation::Kind::Union, true, "t.a", "u.a", std::move(first), std::move(second));
  EXPECT_EQ(after("push_down_filters", filter({"x > 1"}, std::move(both))), R"(
union all x
  filter (t.a > 1)
    scan t(t.a)
  filter (u.a > 1)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, RandomConditionsStayAboveTheirRows) {
  LogicalPtr product = join(JoinKind::Inner, {}, scan("t", {"a"}), scan("u", {"a"}));
  ExpressionPtr sampled = make_call("<", {make_call("random", {}), Expression::cast(value("1"), TypeKind::Double)});
  EXPECT_EQ(after("push_down_filters", make_node(LogicalFilter{{sampled, is("t.a > 1")}}, std::move(product))), R"(
filter (random() < CAST(1 AS DOUBLE))
  inner join
    filter (t.a > 1)
      scan t(t.a)
    scan u(u.a)
)");
}

TEST_F(PushDownFiltersTest, OnlyConditionsOnPartitionsGoBelowWindows) {
  LogicalPtr table = scan("t", {"a", "b"});
  LogicalPtr windowed = window({"t.a"}, "t.b", "n", std::move(table));
  EXPECT_EQ(after("push_down_filters", filter({"t.a > 1", "t.b > 2", "n = 3", "t.a < t.b"}, std::move(windowed))), R"(
filter (t.b > 2) AND (n = 3) AND (t.a < t.b)
  window by t.a order t.b: row_number() AS n
    filter (t.a > 1)
      scan t(t.a, t.b)
)");
  plan_ = {};
  table = scan("t", {"a"});
  windowed = window({}, "t.a", "n", std::move(table));
  EXPECT_EQ(after("push_down_filters", filter({"t.a > 1"}, std::move(windowed))), R"(
filter (t.a > 1)
  window order t.a: row_number() AS n
    scan t(t.a)
)");
}

}  // namespace
}  // namespace pistachio
