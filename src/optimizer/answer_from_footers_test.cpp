#include "expr/expression.h"
#include "optimizer/footer_fixture.h"

namespace pistachio {
namespace {

class AnswerFromFootersTest : public FooterTest {
 protected:
  // The row of constants that replaces the plan: "3, NULL"; empty if the aggregate stays.
  std::string answered(LogicalPtr root) {
    after("answer_from_footers", std::move(root));
    const auto* values = plan_.root->as<LogicalValues>();
    if (values == nullptr) return "";
    std::string text;
    for (const ScalarValue& value : values->rows.at(0)) text += (text.empty() ? "" : ", ") + (value.is_null ? "NULL" : value.to_string());
    return text;
  }
  // One aggregate over all rows of a table with these files.
  std::string answer(const std::string& function, const std::vector<StoredValues>& files, LogicalType type = TypeKind::Integer) {
    plan_ = {};
    LogicalPtr table = scan_files("t", files, type);
    return answered(grouped({}, {call(function, value("t.a"), "x")}, std::move(table)));
  }
  std::string count_rows(LogicalPtr child) { return answered(grouped({}, {call("count", nullptr, "n")}, std::move(child))); }
};

TEST_F(AnswerFromFootersTest, FootersOfAllFilesAnswer) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7, .nulls = 4}, {.least = -2, .greatest = 5, .rows = 100}});
  std::vector<AggregateCall> calls = {call("min", value("t.a"), "least"), call("max", value("t.a"), "greatest"),
                                      call("count", value("t.a"), "values"), call("count", nullptr, "rows")};
  EXPECT_EQ(answered(grouped({}, std::move(calls), std::move(table))), "-2, 7, 106, 110");
}

TEST_F(AnswerFromFootersTest, RenamingProjectionsPassRowsOn) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7}});
  LogicalPtr projected = project({{"t.a", nullptr}, {"twice", is("t.a + t.a")}}, std::move(table));
  EXPECT_EQ(answered(grouped({}, {call("max", value("t.a"), "x")}, std::move(projected))), "7");
}

TEST_F(AnswerFromFootersTest, OnlyNullsHaveNoExtremes) {
  const StoredValues only_nulls{.nulls = 10};
  EXPECT_EQ(answer("max", {only_nulls}), "NULL");
  EXPECT_EQ(answer("count", {only_nulls}), "0");
  EXPECT_EQ(answer("min", {only_nulls, {.least = 4, .greatest = 5}}), "4");
  EXPECT_EQ(answer("min", {{.rows = 0}}), "NULL");
}

TEST_F(AnswerFromFootersTest, MissingFactInOneFileStopsTheAnswer) {
  const StoredValues known{.least = 3, .greatest = 7};
  EXPECT_EQ(answer("max", {known, known}), "7");
  EXPECT_EQ(answer("max", {known, {.least = 3}}), "");
  EXPECT_EQ(answer("min", {known, {.least = 3, .greatest = 7, .exact = false}}), "");
  EXPECT_EQ(answer("count", {known, {.nulls = std::nullopt}}), "");
  // Rows are counted by the footer itself.
  plan_ = {};
  EXPECT_EQ(count_rows(scan_files("t", {known, {.nulls = std::nullopt}})), "20");
}

TEST_F(AnswerFromFootersTest, BoundsOfFloatsAreNotTrusted) {
  // NaN is not in the bounds, but is the greatest value.
  EXPECT_EQ(answer("max", {{.least = 3, .greatest = 7}}, TypeKind::Double), "");
  EXPECT_EQ(answer("count", {{.least = 3, .greatest = 7}}, TypeKind::Double), "10");
  EXPECT_EQ(answer("max", {{.least = 3, .greatest = 7}}, TypeKind::Varchar), "7");
}

TEST_F(AnswerFromFootersTest, OtherAggregatesAreComputed) {
  for (const char* function : {"sum", "avg", "stddev", "any_value"})
    EXPECT_EQ(answer(function, {{.least = 3, .greatest = 7}}), "") << function;
}

TEST_F(AnswerFromFootersTest, OneUnknownCallKeepsTheWholeAggregate) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7}});
  std::vector<AggregateCall> calls = {call("min", value("t.a"), "least"), call("sum", value("t.a"), "total")};
  EXPECT_EQ(after("answer_from_footers", grouped({}, std::move(calls), std::move(table))), R"(
aggregate: min(t.a) AS least, sum(t.a) AS total
  scan t(t.a, t.p)
)");
}

TEST_F(AnswerFromFootersTest, CallsOverSomeRowsAreComputed) {
  const std::vector<StoredValues> files = {{.least = 3, .greatest = 7}};
  LogicalPtr table = scan_files("t", files);
  AggregateCall filtered = call("max", value("t.a"), "x");
  filtered.filter = is("t.a < 5");
  EXPECT_EQ(answered(grouped({}, {filtered}, std::move(table))), "");

  table = scan_files("t", files);
  AggregateCall distinct = call("count", value("t.a"), "x");
  distinct.distinct = true;
  EXPECT_EQ(answered(grouped({}, {distinct}, std::move(table))), "");
  // Duplicates make no difference to a maximum.
  table = scan_files("t", files);
  distinct = call("max", value("t.a"), "x");
  distinct.distinct = true;
  EXPECT_EQ(answered(grouped({}, {distinct}, std::move(table))), "7");
}

TEST_F(AnswerFromFootersTest, ComputedArgumentsAreComputed) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7}});
  EXPECT_EQ(answered(grouped({}, {call("max", is("t.a + 1"), "x")}, std::move(table))), "");
  table = scan_files("t", {{.least = 3, .greatest = 7}});
  LogicalPtr projected = project({{"next", is("t.a + 1")}}, std::move(table));
  EXPECT_EQ(answered(grouped({}, {call("max", value("next"), "x")}, std::move(projected))), "");
}

TEST_F(AnswerFromFootersTest, PartitionValuesAreNotInFooters) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7}});
  EXPECT_EQ(answered(grouped({}, {call("max", value("t.p"), "x")}, std::move(table))), "");
  table = scan_files("t", {{.least = 3, .greatest = 7}});
  EXPECT_EQ(answered(grouped({}, {call("count", value("t.p"), "x")}, std::move(table))), "");
}

TEST_F(AnswerFromFootersTest, NodesThatDropOrRepeatRowsStopTheAnswer) {
  const std::vector<StoredValues> files = {{.least = 3, .greatest = 7}};
  EXPECT_EQ(count_rows(scan_files("t", files)), "10");
  LogicalPtr table = scan_files("t", files);
  EXPECT_EQ(count_rows(filter({"t.a < 5"}, std::move(table))), "");
  table = scan_files("t", files);
  table->as<LogicalScan>()->filters = all({"t.a < 5"});
  EXPECT_EQ(count_rows(std::move(table)), "");
  EXPECT_EQ(count_rows(limit(5, scan_files("t", files))), "");
  table = scan_files("t", files);
  EXPECT_EQ(count_rows(join(JoinKind::Left, {"t.a = u.a"}, std::move(table), scan_files("u", files))), "");
}

TEST_F(AnswerFromFootersTest, GroupsAndMemoryTablesAreComputed) {
  LogicalPtr table = scan_files("t", {{.least = 3, .greatest = 7}});
  EXPECT_EQ(answered(grouped({"t.p"}, {call("count", nullptr, "n")}, std::move(table))), "");
  plan_ = {};
  EXPECT_EQ(count_rows(scan("t", {"a"})), "");
}

TEST_F(AnswerFromFootersTest, UnopenedFilesStopTheAnswer) {
  EXPECT_EQ(count_rows(scan_partitions("t", {{.least = 3, .greatest = 7}, {.least = 1, .greatest = 9}})), "");
}

}  // namespace
}  // namespace pistachio
