#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class RelaxCorrelatedJoinsTest : public RuleTest {
 protected:
  LogicalPtr counted_by(const std::vector<std::string>& groups, LogicalPtr input) { return aggregate(groups, "n", std::move(input)); }
};

TEST_F(RelaxCorrelatedJoinsTest, GroupsOfTheKeysMatchOnce) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = counted_by({"u.a"}, scan("u", {"a", "b"}));
  EXPECT_EQ(after("relax_correlated_joins", join(JoinKind::Single, {"t.a is not distinct from u.a"}, std::move(left), std::move(right))), R"(
left join on is not distinct from(t.a, u.a)
  scan t(t.a)
  aggregate by u.a: count(*) AS n
    scan u(u.a, u.b)
)");
}

TEST_F(RelaxCorrelatedJoinsTest, KeysThatAreNeverNullAreCompared) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr input = scan("u", {"a", "b"});
  LogicalPtr present = make_node(LogicalFilter{{make_call("is not null", {value("u.a")})}}, std::move(input));
  LogicalPtr right = counted_by({"u.a"}, std::move(present));
  right = project({{"n", nullptr}, {"key", value("u.a")}}, std::move(right));
  EXPECT_EQ(after("relax_correlated_joins", join(JoinKind::Single, {"t.a is not distinct from key"}, std::move(left), std::move(right))), R"(
left join on (t.a = key)
  scan t(t.a)
  project n, u.a AS key
    aggregate by u.a: count(*) AS n
      filter is not null(u.a)
        scan u(u.a, u.b)
)");
}

TEST_F(RelaxCorrelatedJoinsTest, SeveralRowsPerKeyStayAnError) {
  for (const std::vector<std::string>& groups : {std::vector<std::string>{"u.a", "u.b"}, std::vector<std::string>{"u.b"}}) {
    plan_ = {};
    LogicalPtr left = scan("t", {"a"});
    LogicalPtr right = scan("u", {"a", "b"});
    if (groups.size() == 1) right = project({{"u.b", nullptr}, {"computed", is("u.a + 1")}}, std::move(right));
    right = counted_by(groups, std::move(right));
    // The computed column is no group: it would not say which rows match.
    const std::string key = groups.size() == 1 ? "n" : "u.a";
    const std::string plan = after("relax_correlated_joins", join(JoinKind::Single, {"t.a = " + key}, std::move(left), std::move(right)));
    EXPECT_EQ(plan.find("left join"), std::string::npos) << plan;
    EXPECT_NE(plan.find("single join"), std::string::npos) << plan;
  }
}

TEST_F(RelaxCorrelatedJoinsTest, PlainRowsMayMatchTwice) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  const std::string plan = after("relax_correlated_joins", join(JoinKind::Single, {"t.a = u.a"}, std::move(left), std::move(right)));
  EXPECT_NE(plan.find("single join"), std::string::npos) << plan;
}

TEST_F(RelaxCorrelatedJoinsTest, OneRowForAllStaysACrossJoin) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = counted_by({}, scan("u", {"a"}));
  const std::string plan = after("relax_correlated_joins", join(JoinKind::Single, {}, std::move(left), std::move(right)));
  EXPECT_NE(plan.find("single join"), std::string::npos) << plan;
}

TEST_F(RelaxCorrelatedJoinsTest, NullKeysStayNullSafe) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = filter({"u.b > 1"}, scan("u", {"a", "b"}));
  const std::string plan = after("relax_correlated_joins", join(JoinKind::Semi, {"t.a is not distinct from u.a"}, std::move(left), std::move(right)));
  EXPECT_NE(plan.find("semi join on is not distinct from"), std::string::npos) << plan;
}

TEST_F(RelaxCorrelatedJoinsTest, NullSafeJoinsOfAllKindsBecomePlain) {
  LogicalPtr left = scan("t", {"a"});
  left = make_node(LogicalFilter{{make_call("is not null", {value("t.a")})}}, std::move(left));
  LogicalPtr right = scan("u", {"a"});
  const std::string plan = after("relax_correlated_joins", join(JoinKind::Anti, {"t.a is not distinct from u.a"}, std::move(left), std::move(right)));
  EXPECT_NE(plan.find("anti join on (t.a = u.a)"), std::string::npos) << plan;
}

}  // namespace
}  // namespace pistachio
