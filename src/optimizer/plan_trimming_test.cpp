// Rules that simplify plans: inline_common_tables, lower_set_operations, push_down_limits, prune_columns.
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

using Kind = LogicalSetOperation::Kind;

class InlineCommonTablesTest : public RuleTest {
 protected:
  LogicalPtr read(const std::string& name, const std::string& source) {
    return make_node(LogicalSharedRead{.shared = 0, .columns = {add(name)}, .sources = {id(source)}});
  }
};

TEST_F(InlineCommonTablesTest, TableReadOnceMovesIntoItsReader) {
  plan_.shared.push_back(scan("t", {"a", "b"}));
  EXPECT_EQ(after("inline_common_tables", read("x", "t.b")), R"(
project t.b AS x
  scan t(t.a, t.b)
)");
}

TEST_F(InlineCommonTablesTest, TableReadTwiceIsKept) {
  plan_.shared.push_back(scan("t", {"a"}));
  LogicalPtr left = read("x", "t.a");
  LogicalPtr right = read("y", "t.a");
  EXPECT_EQ(after("inline_common_tables", join(JoinKind::Inner, {"x = y"}, std::move(left), std::move(right))), R"(
common table 0:
  scan t(t.a)
inner join on (x = y)
  read common table 0(x)
  read common table 0(y)
)");
}

TEST_F(InlineCommonTablesTest, UnreadTableIsDropped) {
  plan_.shared.push_back(scan("t", {"a"}));
  EXPECT_EQ(after("inline_common_tables", scan("u", {"a"})), "\nscan u(u.a)\n");
}

TEST_F(InlineCommonTablesTest, TableReadOnlyByUnreadTableIsDropped) {
  plan_.shared.push_back(scan("t", {"a"}));
  LogicalPtr left = read("x", "t.a");
  LogicalPtr right = read("y", "t.a");
  plan_.shared.push_back(join(JoinKind::Inner, {"x = y"}, std::move(left), std::move(right)));
  EXPECT_EQ(after("inline_common_tables", scan("u", {"a"})), "\nscan u(u.a)\n");
}

class LowerSetOperationsTest : public RuleTest {
 protected:
  std::string lowered(Kind kind, bool is_all) {
    plan_ = {};
    LogicalPtr left = scan("t", {"a"});
    LogicalPtr right = scan("u", {"a"});
    return after("lower_set_operations", set_operation(kind, is_all, "t.a", "u.a", std::move(left), std::move(right)), {"x"});
  }
};

TEST_F(LowerSetOperationsTest, UnionIsUnionAllWithoutDuplicates) {
  EXPECT_EQ(lowered(Kind::Union, false), R"(
aggregate by x
  union all x
    scan t(t.a)
    scan u(u.a)
)");
  EXPECT_EQ(lowered(Kind::Union, true), R"(
union all x
  scan t(t.a)
  scan u(u.a)
)");
}

TEST_F(LowerSetOperationsTest, IntersectionCountsBothSides) {
  EXPECT_EQ(lowered(Kind::Intersect, false), R"(
project x
  filter (count > 0) AND (count.2 > 0)
    aggregate by x: count(*) FILTER is_left AS count, count(*) FILTER not(is_left) AS count.2
      union all x, is_left
        project t.a AS t.a.2, true AS is_left.2
          scan t(t.a)
        project u.a AS u.a.2, false AS is_left.3
          scan u(u.a)
)");
}

TEST_F(LowerSetOperationsTest, ExceptAllRepeatsRemainingRows) {
  std::string text = lowered(Kind::Except, true);
  EXPECT_TRUE(text.starts_with("\nrepeat times\n  project x, (count - count.2) AS times\n    filter (count > count.2)\n")) << text;
}

using PushDownLimitsTest = RuleTest;

TEST_F(PushDownLimitsTest, SortsKeepTheFirstRows) {
  LogicalPtr sorted = sort("t.a", scan("t", {"a"}));
  EXPECT_EQ(after("push_down_limits", limit(5, std::move(sorted), 2)), R"(
limit 5 offset 2
  top 7 by t.a
    scan t(t.a)
)");
}

TEST_F(PushDownLimitsTest, LargeLimitsLeaveSortsAlone) {
  LogicalPtr sorted = sort("t.a", scan("t", {"a"}));
  EXPECT_EQ(after("push_down_limits", limit(1'000'001, std::move(sorted))), R"(
limit 1000001
  sort by t.a
    scan t(t.a)
)");
  // The sum with the offset must not overflow.
  plan_ = {};
  sorted = sort("t.a", scan("t", {"a"}));
  EXPECT_EQ(after("push_down_limits", limit(INT64_MAX, std::move(sorted), 1)), R"(
limit 9223372036854775807 offset 1
  sort by t.a
    scan t(t.a)
)");
}

TEST_F(PushDownLimitsTest, InputsOfAUnionAreLimited) {
  LogicalPtr left = scan("t", {"a"});
  LogicalPtr right = scan("u", {"a"});
  LogicalPtr both = set_operation(Kind::Union, true, "t.a", "u.a", std::move(left), std::move(right));
  EXPECT_EQ(after("push_down_limits", limit(5, std::move(both), 1)), R"(
limit 5 offset 1
  union all x
    limit 6
      scan t(t.a)
    limit 6
      scan u(u.a)
)");
}

TEST_F(PushDownLimitsTest, WindowsStopLimits) {
  LogicalPtr sorted = sort("t.a", scan("t", {"a"}));
  LogicalPtr windowed = window({}, "t.a", "n", std::move(sorted));
  EXPECT_EQ(after("push_down_limits", limit(5, std::move(windowed))), R"(
limit 5
  window order t.a: row_number() AS n
    sort by t.a
      scan t(t.a)
)");
}

TEST_F(PushDownLimitsTest, FiltersStopLimits) {
  LogicalPtr sorted = sort("t.a", scan("t", {"a"}));
  EXPECT_EQ(after("push_down_limits", limit(5, filter({"t.a > 1"}, std::move(sorted)))), R"(
limit 5
  filter (t.a > 1)
    sort by t.a
      scan t(t.a)
)");
}

using PruneColumnsTest = RuleTest;

TEST_F(PruneColumnsTest, OnlyUsedColumnsAreRead) {
  LogicalPtr joined = join(JoinKind::Inner, {"t.a = u.a"}, scan("t", {"a", "b", "c"}), scan("u", {"a", "b"}));
  EXPECT_EQ(after("prune_columns", std::move(joined), {"t.b"}), R"(
inner join on (t.a = u.a) -> t.b
  scan t(t.a, t.b)
  scan u(u.a)
)");
}

TEST_F(PruneColumnsTest, UnusedInputColumnsAreDropped) {
  auto extended = [&] {
    plan_ = {};
    LogicalPtr joined = join(JoinKind::Full, {}, scan("t", {"a", "b"}), scan("u", {"a", "b"}));
    ExpressionPtr both = Expression::conditional(ExpressionKind::Coalesce, {value("t.a"), value("u.a")}, TypeKind::Integer);
    LogicalProject project{.columns = {{add("a"), both}}, .keeps_input = true};
    return make_node(std::move(project), std::move(joined));
  };
  EXPECT_EQ(after("prune_columns", extended(), {"a", "u.b"}), R"(
project coalesce(t.a, u.a) AS a, u.b
  full join -> t.a, u.a, u.b
    scan t(t.a)
    scan u(u.a, u.b)
)");
  EXPECT_EQ(after("prune_columns", extended(), {"t.b"}), R"(
project t.b
  full join -> t.b
    scan t(t.b)
    scan u()
)");
}

TEST_F(PruneColumnsTest, WindowsWithoutUsedCallsAreDropped) {
  auto windowed = [&] {
    plan_ = {};
    LogicalPtr table = scan("t", {"a", "b", "c"});
    return window({"t.a"}, "t.b", "n", std::move(table));
  };
  EXPECT_EQ(after("prune_columns", windowed(), {"t.c"}), R"(
scan t(t.c)
)");
  EXPECT_EQ(after("prune_columns", windowed(), {"n"}), R"(
window by t.a order t.b: row_number() AS n beside 
  scan t(t.a, t.b)
)");
  EXPECT_EQ(after("prune_columns", windowed(), {"n", "t.a", "t.c"}), R"(
window by t.a order t.b: row_number() AS n beside t.a, t.c
  scan t(t.a, t.b, t.c)
)");
}

TEST_F(PruneColumnsTest, FilteredColumnsOfScansAreNotGiven) {
  LogicalPtr table = scan("t", {"a", "b"});
  table->as<LogicalScan>()->filters = all({"t.b > 1"});
  EXPECT_EQ(after("prune_columns", std::move(table), {"t.a"}), "\nscan t(t.a) where (t.b > 1)\n");
}

TEST_F(PruneColumnsTest, CountOfRowsNeedsNoColumns) {
  LogicalPtr counted = aggregate({}, "n", scan("t", {"a", "b"}));
  EXPECT_EQ(after("prune_columns", std::move(counted), {"n"}), R"(
aggregate: count(*) AS n
  scan t()
)");
  // The count is dropped if it is not used; its one row stays.
  plan_ = {};
  counted = aggregate({}, "n", scan("t", {"a"}));
  EXPECT_EQ(after("prune_columns", std::move(counted)), R"(
aggregate
  scan t()
)");
}

TEST_F(PruneColumnsTest, GroupsStayWhereverTheyAreUsed) {
  LogicalPtr grouped = aggregate({"t.a", "t.b"}, "n", scan("t", {"a", "b", "c"}));
  EXPECT_EQ(after("prune_columns", std::move(grouped), {"t.a"}), R"(
aggregate by t.a, t.b
  scan t(t.a, t.b)
)");
}

TEST_F(PruneColumnsTest, SortKeysAreKeptBelow) {
  LogicalPtr table = scan("t", {"a", "b", "c"});
  EXPECT_EQ(after("prune_columns", sort("t.b", std::move(table)), {"t.a"}), R"(
sort by t.b
  scan t(t.a, t.b)
)");
}

}  // namespace
}  // namespace pistachio
