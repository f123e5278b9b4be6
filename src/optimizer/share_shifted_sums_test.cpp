#include <limits>

#include "expr/expression.h"
#include "expr/function.h"
#include "optimizer/footer_fixture.h"

namespace pistachio {
namespace {

class ShareShiftedSumsTest : public FooterTest {
 protected:
  static constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

  // The plan of sum(argument) over a table with one file of values up to `greatest`.
  std::string sum_of(const std::function<ExpressionPtr()>& argument, const StoredValues& stored = {.least = 0, .greatest = 7},
                     LogicalType type = TypeKind::Integer) {
    plan_ = {};
    LogicalPtr table = scan_files("t", {stored}, type);
    return after("share_shifted_sums", grouped({}, {call("sum", argument(), "x")}, std::move(table)));
  }
  bool is_shared(const std::function<ExpressionPtr()>& argument, const StoredValues& stored = {.least = 0, .greatest = 7},
                 LogicalType type = TypeKind::Integer) {
    return sum_of(argument, stored, type).starts_with("\nproject ");
  }
  bool is_shared(const std::string& argument, const StoredValues& stored = {.least = 0, .greatest = 7},
                 LogicalType type = TypeKind::Integer) {
    return is_shared([&] { return is(argument); }, stored, type);
  }
};

TEST_F(ShareShiftedSumsTest, ManyShiftsShareOneSum) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  std::vector<AggregateCall> calls = {call("sum", is("t.a + 1"), "x"), call("sum", is("t.a - 20"), "y"), call("sum", is("3 + t.a"), "z")};
  EXPECT_EQ(after("share_shifted_sums", grouped({"t.p"}, std::move(calls), std::move(table))), R"(
project t.p, CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 1) AS DECIMAL(38,0))) AS BIGINT) AS x, CAST((sum - CAST((CAST(count AS DECIMAL(19,0)) * 20) AS DECIMAL(38,0))) AS BIGINT) AS y, CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 3) AS DECIMAL(38,0))) AS BIGINT) AS z
  aggregate by t.p: sum(t.a) AS sum, count(t.a) AS count
    scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, OtherCallsStayBesideTheSharedOnes) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  std::vector<AggregateCall> calls = {call("max", is("t.a + 1"), "x"), call("sum", is("t.a + 1"), "y"), call("count", nullptr, "n")};
  EXPECT_EQ(after("share_shifted_sums", grouped({}, std::move(calls), std::move(table))), R"(
project x, CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 1) AS DECIMAL(38,0))) AS BIGINT) AS y, n
  aggregate: max((t.a + 1)) AS x, sum(t.a) AS sum, count(t.a) AS count, count(*) AS n
    scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, FiltersShareOnlyWithTheSameFilter) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  std::vector<AggregateCall> calls = {call("sum", is("t.a + 1"), "x"), call("sum", is("t.a + 2"), "y"), call("sum", is("t.a + 3"), "z")};
  calls[0].filter = is("t.p = 1");
  calls[2].filter = is("t.p = 1");
  EXPECT_EQ(after("share_shifted_sums", grouped({}, std::move(calls), std::move(table))), R"(
project CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 1) AS DECIMAL(38,0))) AS BIGINT) AS x, CAST((sum.2 + CAST((CAST(count.2 AS DECIMAL(19,0)) * 2) AS DECIMAL(38,0))) AS BIGINT) AS y, CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 3) AS DECIMAL(38,0))) AS BIGINT) AS z
  aggregate: sum(t.a) FILTER (t.p = 1) AS sum, count(t.a) FILTER (t.p = 1) AS count, sum(t.a) AS sum.2, count(t.a) AS count.2
    scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, DistinctSumsStay) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  AggregateCall distinct = call("sum", is("t.a + 1"), "x");
  distinct.distinct = true;
  EXPECT_EQ(after("share_shifted_sums", grouped({}, {distinct}, std::move(table))), R"(
aggregate: sum(DISTINCT (t.a + 1)) AS x
  scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, OnlyAddedAndSubtractedConstantsAreShifts) {
  EXPECT_TRUE(is_shared("t.a + 1"));
  EXPECT_TRUE(is_shared("1 + t.a"));
  EXPECT_TRUE(is_shared("t.a - 1"));
  EXPECT_FALSE(is_shared("1 - t.a"));
  EXPECT_FALSE(is_shared("t.a * 2"));
  EXPECT_FALSE(is_shared("t.a + t.a"));
  EXPECT_FALSE(is_shared([&] { return value("t.a"); }));
  EXPECT_FALSE(is_shared([&] { return make_call("+", {value("t.a"), Expression::constant(ScalarValue::null(TypeKind::Integer))}); }));
}

TEST_F(ShareShiftedSumsTest, SumsThatMayOverflowStay) {
  EXPECT_TRUE(is_shared("t.a + 1", {.least = 0, .greatest = kMost - 1}));
  EXPECT_FALSE(is_shared("t.a + 1", {.least = 0, .greatest = kMost}));
  EXPECT_TRUE(is_shared("t.a - 2", {.least = -kMost + 1, .greatest = 0}));
  EXPECT_FALSE(is_shared("t.a - 3", {.least = -kMost + 1, .greatest = 0}));
}

TEST_F(ShareShiftedSumsTest, UnknownBoundsStopSharing) {
  EXPECT_FALSE(is_shared("t.a + 1", {}));
  EXPECT_FALSE(is_shared("t.a + 1", {.least = 0, .greatest = 7, .exact = false}));
  // No value at all cannot overflow.
  EXPECT_TRUE(is_shared("t.a + 1", {.nulls = 10}));
  plan_ = {};
  LogicalPtr table = scan("t", {"a"});
  EXPECT_EQ(after("share_shifted_sums", grouped({}, {call("sum", is("t.a + 1"), "x")}, std::move(table))), R"(
aggregate: sum((t.a + 1)) AS x
  scan t(t.a)
)");
}

TEST_F(ShareShiftedSumsTest, WidenedColumnsAreSummedAsStored) {
  const StoredValues small{.least = 0, .greatest = 7};
  EXPECT_EQ(sum_of(
                [&] {
                  return make_call("+", {Expression::cast(value("t.a"), TypeKind::Integer), value("1")});
                },
                small, TypeKind::SmallInt),
            R"(
project CAST((sum + CAST((CAST(count AS DECIMAL(19,0)) * 1) AS DECIMAL(38,0))) AS BIGINT) AS x
  aggregate: sum(t.a) AS sum, count(t.a) AS count
    scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, DecimalsKeepTheScaleOfTheShift) {
  const LogicalType price = LogicalType::decimal(10, 2), total = LogicalType::decimal(12, 3);
  auto sum = [&] {
    const ExpressionPtr shift = Expression::constant(ScalarValue::of_integer(total, 1005));
    const Function& plus = make_call("+", {value("1"), value("1")})->function();
    return Expression::call(plus, {Expression::cast(value("t.a"), total), shift}, total);
  };
  EXPECT_EQ(sum_of(sum, {.least = 0, .greatest = 700}, price), R"(
project (CAST(sum AS DECIMAL(38,3)) + CAST((CAST(count AS DECIMAL(19,0)) * 1.005) AS DECIMAL(38,3))) AS x
  aggregate: sum(t.a) AS sum, count(t.a) AS count
    scan t(t.a, t.p)
)");
}

TEST_F(ShareShiftedSumsTest, NullPaddedColumnsAreShared) {
  // sum and count both skip the NULLs of rows without a match.
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  LogicalPtr joined = join(JoinKind::Left, {"u.a = t.p"}, scan("u", {"a"}), std::move(table));
  EXPECT_TRUE(after("share_shifted_sums", grouped({}, {call("sum", is("t.a + 1"), "x")}, std::move(joined))).starts_with("\nproject "));
}

TEST_F(ShareShiftedSumsTest, ComputedColumnsHaveNoBounds) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 7}});
  LogicalPtr projected = project({{"twice", is("t.a * 2")}}, std::move(table));
  EXPECT_TRUE(
      after("share_shifted_sums", grouped({}, {call("sum", is("twice + 1"), "x")}, std::move(projected))).starts_with("\naggregate"));
}

TEST_F(ShareShiftedSumsTest, ResultsKeepTheirTypes) {
  sum_of([&] { return is("t.a + 1"); });
  const auto* results = plan_.root->as<LogicalProject>();
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(results->columns.at(0).id, id("x"));
  EXPECT_EQ(results->columns.at(0).expression->type(), plan_.columns.type(id("x")));
}

}  // namespace
}  // namespace pistachio
