#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

using ImplyConditionsTest = RuleTest;

TEST_F(ImplyConditionsTest, EqualColumnsShareTheirComparisons) {
  LogicalPtr left = filter({"t.a < 5"}, scan("t", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Inner, {"t.a = u.a"}, std::move(left), scan("u", {"a"}))), R"(
inner join on (t.a = u.a) AND (u.a < 5)
  filter (t.a < 5)
    scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(ImplyConditionsTest, EqualitiesAreTransitive) {
  LogicalPtr inner = join(JoinKind::Inner, {"t.a = u.a"}, scan("t", {"a"}), scan("u", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Inner, {"u.a = v.a"}, std::move(inner), scan("v", {"a"}))), R"(
inner join on (u.a = v.a) AND (t.a = v.a)
  inner join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a)
  scan v(v.a)
)");
}

TEST_F(ImplyConditionsTest, OuterJoinImpliesTowardsItsOptionalSideOnly) {
  LogicalPtr left = filter({"t.a < 5"}, scan("t", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Left, {"t.a = u.a", "u.a > 1"}, std::move(left), scan("u", {"a"}))), R"(
left join on (t.a = u.a) AND (u.a > 1) AND (u.a < 5)
  filter (t.a < 5)
    scan t(t.a)
  scan u(u.a)
)");
  plan_ = {};
  left = filter({"t.a < 5"}, scan("t", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Right, {"t.a = u.a"}, std::move(left), scan("u", {"a"}))), R"(
right join on (t.a = u.a)
  filter (t.a < 5)
    scan t(t.a)
  scan u(u.a)
)");
  plan_ = {};
  left = filter({"t.a < 5"}, scan("t", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Full, {"t.a = u.a"}, std::move(left), scan("u", {"a"}))), R"(
full join on (t.a = u.a)
  filter (t.a < 5)
    scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(ImplyConditionsTest, SemiJoinRowsInheritConditionsOfMatches) {
  LogicalPtr right = filter({"u.a < 5"}, scan("u", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Semi, {"t.a = u.a"}, scan("t", {"a"}), std::move(right))), R"(
semi join on (t.a = u.a) AND (t.a < 5)
  scan t(t.a)
  filter (u.a < 5)
    scan u(u.a)
)");
  // Rows of an anti join have no match.
  plan_ = {};
  right = filter({"u.a < 5"}, scan("u", {"a"}));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Anti, {"t.a = u.a"}, scan("t", {"a"}), std::move(right))), R"(
anti join on (t.a = u.a)
  scan t(t.a)
  filter (u.a < 5)
    scan u(u.a)
)");
}

TEST_F(ImplyConditionsTest, ConditionsPassGroupsAndProjections) {
  LogicalPtr table = filter({"t.a < 5", "t.b < 6"}, scan("t", {"a", "b"}));
  LogicalPtr grouped = aggregate({"t.a"}, "n", std::move(table));
  LogicalPtr named = project({{"g", value("t.a")}}, std::move(grouped));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Inner, {"g = u.a"}, std::move(named), scan("u", {"a"}))), R"(
inner join on (g = u.a) AND (u.a < 5)
  project t.a AS g
    aggregate by t.a: count(*) AS n
      filter (t.a < 5) AND (t.b < 6)
        scan t(t.a, t.b)
  scan u(u.a)
)");
}

TEST_F(ImplyConditionsTest, EqualValuesMayHaveDifferentText) {
  // 0.0 and -0.0 are equal, but their texts are not: only the numeric comparison carries over.
  LogicalPtr table = scan("t", {"f"}, 1, TypeKind::Double);
  LogicalPtr other = scan("u", {"f"}, 1, TypeKind::Double);
  ExpressionPtr text = Expression::cast(value("t.f"), TypeKind::Varchar);
  ExpressionPtr reads = make_call("=", {text, Expression::constant(ScalarValue::of_text(TypeKind::Varchar, "0"))});
  LogicalPtr left = make_node(LogicalFilter{{reads, is("t.f < 1")}}, std::move(table));
  EXPECT_EQ(after("imply_conditions", join(JoinKind::Inner, {"t.f = u.f"}, std::move(left), std::move(other))), R"(
inner join on (t.f = u.f) AND (u.f < 1)
  filter (CAST(t.f AS VARCHAR) = '0') AND (t.f < 1)
    scan t(t.f)
  scan u(u.f)
)");
}

}  // namespace
}  // namespace pistachio
