#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

using OrderJoinsTest = RuleTest;

TEST_F(OrderJoinsTest, SmallJoinsComeFirst) {
  // As written: the two large tables first.
  LogicalPtr large = join(JoinKind::Inner, {"t.a = u.a"}, scan("t", {"a"}, 100000), scan("u", {"a", "b"}, 100000));
  LogicalPtr small = filter({"v.c = 1"}, scan("v", {"b", "c"}, 100));
  EXPECT_EQ(after("order_joins", join(JoinKind::Inner, {"u.b = v.b"}, std::move(large), std::move(small))), R"(
inner join on (t.a = u.a)
  scan t(t.a)
  inner join on (u.b = v.b)
    scan u(u.a, u.b)
    filter (v.c = 1)
      scan v(v.b, v.c)
)");
}

TEST_F(OrderJoinsTest, ProductsOfTinyTablesOnly) {
  auto star = [&](int64_t rows) {
    plan_ = {};
    LogicalPtr product = join(JoinKind::Inner, {}, scan("t", {"a"}, rows), scan("v", {"a"}, rows));
    return after("order_joins", join(JoinKind::Inner, {"t.a = u.a", "u.b = v.a"}, std::move(product), scan("u", {"a", "b"}, 100'000)));
  };
  EXPECT_EQ(star(10'000), R"(
inner join on (u.b = v.a)
  inner join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a, u.b)
  scan v(v.a)
)");
  // Both keys together match fewer rows of the large table than one.
  EXPECT_EQ(star(10), R"(
inner join on (t.a = u.a) AND (u.b = v.a)
  inner join
    scan t(t.a)
    scan v(v.a)
  scan u(u.a, u.b)
)");
}

TEST_F(OrderJoinsTest, RedundantEqualitiesAreDropped) {
  LogicalPtr inner = join(JoinKind::Inner, {"t.a = u.a"}, scan("t", {"a"}, 10), scan("u", {"a"}, 100));
  std::string text = after("order_joins", join(JoinKind::Inner, {"u.a = v.a", "t.a = v.a"}, std::move(inner), scan("v", {"a"}, 1000)));
  EXPECT_EQ(std::count(text.begin(), text.end(), '='), 2) << text;
}

TEST_F(OrderJoinsTest, PlainEqualityReplacesANullSafeOne) {
  LogicalPtr both = join(JoinKind::Inner, {"t.a is not distinct from u.a", "t.a = u.a"}, scan("t", {"a"}), scan("u", {"a"}));
  EXPECT_EQ(after("order_joins", std::move(both)), R"(
inner join on (t.a = u.a)
  scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(OrderJoinsTest, OuterJoinsBoundTheRegion) {
  LogicalPtr inner = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}, 100000), scan("u", {"a"}, 100000));
  EXPECT_EQ(after("order_joins", join(JoinKind::Inner, {"t.a = v.a"}, std::move(inner), scan("v", {"a"}, 1))), R"(
inner join on (t.a = v.a)
  left join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a)
  scan v(v.a)
)");
}

TEST_F(OrderJoinsTest, ConditionsOnOneInputAreKept) {
  EXPECT_EQ(after("order_joins", join(JoinKind::Inner, {"t.a = 1", "1 = 2"}, scan("t", {"a"}), scan("u", {"a"}))), R"(
filter (t.a = 1) AND (1 = 2)
  inner join
    scan t(t.a)
    scan u(u.a)
)");
}

using ChooseBuildSidesTest = RuleTest;

TEST_F(ChooseBuildSidesTest, SmallerSideIsBuilt) {
  EXPECT_EQ(after("choose_build_sides", join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}, 10), scan("u", {"a"}, 1000))), R"(
right join on (t.a = u.a)
  scan u(u.a)
  scan t(t.a)
)");
  plan_ = {};
  EXPECT_EQ(after("choose_build_sides", join(JoinKind::Full, {"t.a = u.a"}, scan("t", {"a"}, 1000), scan("u", {"a"}, 10))), R"(
full join on (t.a = u.a)
  scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(ChooseBuildSidesTest, SemiJoinsTurnForMuchSmallerSidesOnly) {
  EXPECT_EQ(after("choose_build_sides", join(JoinKind::Semi, {"t.a = u.a"}, scan("t", {"a"}, 300), scan("u", {"a"}, 1000))), R"(
semi join on (t.a = u.a)
  scan t(t.a)
  scan u(u.a)
)");
  plan_ = {};
  EXPECT_EQ(after("choose_build_sides", join(JoinKind::Anti, {"t.a = u.a"}, scan("t", {"a"}, 200), scan("u", {"a"}, 1000))), R"(
right anti join on (t.a = u.a)
  scan u(u.a)
  scan t(t.a)
)");
}

TEST_F(ChooseBuildSidesTest, SingleJoinsKeepTheirSides) {
  EXPECT_EQ(after("choose_build_sides", join(JoinKind::Single, {"t.a = u.a"}, scan("t", {"a"}, 1), scan("u", {"a"}, 1000))), R"(
single join on (t.a = u.a)
  scan t(t.a)
  scan u(u.a)
)");
}

using PushDownSemiJoinsTest = RuleTest;

TEST_F(PushDownSemiJoinsTest, FiltersTheInputItUses) {
  LogicalPtr joined = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a", "b"}, 100), scan("u", {"a"}, 1000));
  EXPECT_EQ(after("push_down_semi_joins", join(JoinKind::Anti, {"t.b = v.b"}, std::move(joined), scan("v", {"b"}, 10))), R"(
left join on (t.a = u.a)
  anti join on (t.b = v.b)
    scan t(t.a, t.b)
    scan v(v.b)
  scan u(u.a)
)");
}

TEST_F(PushDownSemiJoinsTest, StaysAboveTheOptionalSide) {
  LogicalPtr joined = join(JoinKind::Left, {"t.a = u.a"}, scan("t", {"a"}, 100), scan("u", {"a", "b"}, 100));
  EXPECT_EQ(after("push_down_semi_joins", join(JoinKind::Semi, {"u.b = v.b"}, std::move(joined), scan("v", {"b"}, 10))), R"(
semi join on (u.b = v.b)
  left join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a, u.b)
  scan v(v.b)
)");
}

TEST_F(PushDownSemiJoinsTest, StaysWithConditionsOnBothInputs) {
  LogicalPtr joined = join(JoinKind::Inner, {"t.a = u.a"}, scan("t", {"a"}, 100), scan("u", {"a", "b"}, 100));
  LogicalPtr root = join(JoinKind::Semi, {"t.a = v.a", "u.b = v.b"}, std::move(joined), scan("v", {"a", "b"}, 10));
  EXPECT_EQ(after("push_down_semi_joins", std::move(root)), R"(
semi join on (t.a = v.a) AND (u.b = v.b)
  inner join on (t.a = u.a)
    scan t(t.a)
    scan u(u.a, u.b)
  scan v(v.a, v.b)
)");
}

}  // namespace
}  // namespace pistachio
