#include "expr/expression.h"
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class FilterCommonTablesTest : public RuleTest {
 protected:
  // A read of a shared plan with the columns a and b of t, named like "x.a".
  LogicalPtr read(const std::string& name, size_t shared = 0, const std::string& source = "t") {
    LogicalSharedRead node{.shared = shared};
    for (const char* column : {".a", ".b"}) {
      const ColumnId from = id(source + column);
      node.columns.push_back(add(name + column));
      node.sources.push_back(from);
    }
    return make_node(std::move(node));
  }
  LogicalPtr both(LogicalPtr left, LogicalPtr right) { return join(JoinKind::Inner, {}, std::move(left), std::move(right)); }
  // The shared plan after the rule, with two readers that have these conditions.
  std::string shared_with(const std::function<std::vector<ExpressionPtr>()>& first,
                          const std::function<std::vector<ExpressionPtr>()>& second) {
    plan_ = {};
    plan_.shared.push_back(scan("t", {"a", "b"}));
    LogicalPtr left = read("x");
    LogicalPtr right = read("y");
    left = make_node(LogicalFilter{first()}, std::move(left));
    right = make_node(LogicalFilter{second()}, std::move(right));
    after("filter_common_tables", both(std::move(left), std::move(right)));
    return LogicalPlanText(plan_).text(*plan_.shared[0], 0);
  }
  std::string shared_with(const std::vector<std::string>& first, const std::vector<std::string>& second) {
    return shared_with([&] { return all(first); }, [&] { return all(second); });
  }

  const std::string unfiltered_ = "scan t(t.a, t.b)\n";
};

TEST_F(FilterCommonTablesTest, RowsThatNoReaderWantsAreDropped) {
  plan_.shared.push_back(scan("t", {"a", "b"}));
  LogicalPtr left = read("x");
  left = filter({"x.a = 1"}, std::move(left));
  LogicalPtr right = read("y");
  right = filter({"y.a = 2"}, std::move(right));
  EXPECT_EQ(after("filter_common_tables", both(std::move(left), std::move(right))), R"(
common table 0:
  filter ((t.a = 1) OR (t.a = 2))
    scan t(t.a, t.b)
inner join
  filter (x.a = 1)
    read common table 0(x.a, x.b)
  filter (y.a = 2)
    read common table 0(y.a, y.b)
)");
}

TEST_F(FilterCommonTablesTest, ConditionsOfAllReadersOnOneColumnAreNeeded) {
  EXPECT_EQ(shared_with({"x.a > 1", "x.a < 5", "x.b = 7"}, {"y.a = 9", "y.b = 7"}),
            "filter (((t.a > 1) AND (t.a < 5)) OR (t.a = 9)) AND (t.b = 7)\n  " + unfiltered_);
  EXPECT_EQ(shared_with({"x.a = 1"}, {"y.b = 1"}), unfiltered_);
}

TEST_F(FilterCommonTablesTest, ReaderWithoutConditionsWantsAllRows) {
  plan_.shared.push_back(scan("t", {"a", "b"}));
  LogicalPtr left = read("x");
  left = filter({"x.a = 1"}, std::move(left));
  EXPECT_TRUE(after("filter_common_tables", both(std::move(left), read("y"))).starts_with("\ncommon table 0:\n  scan t(t.a, t.b)\n"));
}

TEST_F(FilterCommonTablesTest, ConditionsThatRaiseVaryOrCompareColumnsStay) {
  auto plain = [&](const std::string& column) {
    return [this, column] { return std::vector{make_call("=", {value(column), value("1")})}; };
  };
  EXPECT_EQ(shared_with(plain("x.a"), plain("y.a")), "filter (t.a = 1)\n  " + unfiltered_);
  EXPECT_EQ(shared_with([&] { return std::vector{make_call("=", {is("6 / x.a"), value("1")})}; }, plain("y.a")), unfiltered_);
  auto sampled = [&] { return std::vector{make_call("<", {make_call("random", {}), Expression::cast(value("x.a"), TypeKind::Double)})}; };
  EXPECT_EQ(shared_with(sampled, plain("y.a")), unfiltered_);
  EXPECT_EQ(shared_with([&] { return all({"x.a = x.b"}); }, plain("y.a")), unfiltered_);
}

TEST_F(FilterCommonTablesTest, WantedNullsAreKept) {
  auto is_null = [&] { return std::vector{make_call("is null", {value("x.a")})}; };
  EXPECT_EQ(shared_with(is_null, [&] { return all({"y.a = 1"}); }), "filter (is null(t.a) OR (t.a = 1))\n  " + unfiltered_);
}

TEST_F(FilterCommonTablesTest, ConditionsAboveOuterJoinsAreNoneOfTheOptionalReader) {
  // Rows without a match have NULLs, too: the reader needs all rows to know them.
  plan_.shared.push_back(scan("t", {"a", "b"}));
  LogicalPtr left = read("x");
  left = filter({"x.a = 1"}, std::move(left));
  LogicalPtr joined = join(JoinKind::Left, {"x.b = y.b"}, std::move(left), read("y"));
  LogicalPtr root = make_node(LogicalFilter{{make_call("is null", {value("y.a")})}}, std::move(joined));
  EXPECT_TRUE(after("filter_common_tables", std::move(root)).starts_with("\ncommon table 0:\n  scan t(t.a, t.b)\n"));
}

TEST_F(FilterCommonTablesTest, LimitedCommonTablesAreFilteredAboveTheirLimit) {
  plan_.shared.push_back(limit(5, scan("t", {"a", "b"})));
  LogicalPtr only = read("x");
  EXPECT_EQ(after("filter_common_tables", filter({"x.a = 1"}, std::move(only))), R"(
common table 0:
  filter (t.a = 1)
    limit 5
      scan t(t.a, t.b)
filter (x.a = 1)
  read common table 0(x.a, x.b)
)");
}

TEST_F(FilterCommonTablesTest, ConditionsReachTablesBelowTheirTable) {
  plan_.shared.push_back(scan("t", {"a", "b"}));
  plan_.shared.push_back(read("m"));
  LogicalPtr left = read("x", 1, "m");
  left = filter({"x.a = 1"}, std::move(left));
  LogicalPtr right = read("y", 1, "m");
  right = filter({"y.a = 2"}, std::move(right));
  EXPECT_EQ(after("filter_common_tables", both(std::move(left), std::move(right))), R"(
common table 0:
  filter ((t.a = 1) OR (t.a = 2))
    scan t(t.a, t.b)
common table 1:
  filter ((m.a = 1) OR (m.a = 2))
    read common table 0(m.a, m.b)
inner join
  filter (x.a = 1)
    read common table 1(x.a, x.b)
  filter (y.a = 2)
    read common table 1(y.a, y.b)
)");
}

TEST_F(FilterCommonTablesTest, WorkingTablesAreNoReadersOfACommonTable) {
  plan_.shared.push_back(scan("t", {"a", "b"}));
  LogicalPtr left = read("x");
  left = filter({"x.a = 1"}, std::move(left));
  LogicalPtr working = read("w");
  working->as<LogicalSharedRead>()->is_working_table = true;
  EXPECT_TRUE(
      after("filter_common_tables", both(std::move(left), std::move(working))).starts_with("\ncommon table 0:\n  filter (t.a = 1)\n"));
}

}  // namespace
}  // namespace pistachio
