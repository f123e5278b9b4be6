#include "expr/expression.h"
#include "optimizer/footer_fixture.h"

namespace pistachio {
namespace {

class ChoosePartitionsTest : public FooterTest {
 protected:
  using Places = std::vector<size_t>;

  // Five files: p is 0 to 3, then NULL.
  LogicalPtr partitions(const std::string& name = "t") {
    std::vector<StoredValues> files;
    for (const char* partition : {"0", "1", "2", "3", "__HIVE_DEFAULT_PARTITION__"})
      files.push_back({.least = 0, .greatest = 9, .partition = partition});
    return scan_partitions(name, files);
  }
  // The files that the rule opens below these conditions.
  Places opened(const std::function<std::vector<ExpressionPtr>()>& conditions) {
    plan_ = {};
    opened_.clear();
    LogicalPtr table = partitions();
    after("choose_partitions", make_node(LogicalFilter{conditions()}, std::move(table)));
    EXPECT_FALSE(plan_.root->left().as<LogicalScan>()->table->has_unopened_files());
    return opened_.at(0);
  }
  Places opened(const std::vector<std::string>& conditions) {
    return opened([&] { return all(conditions); });
  }

  const Places all_ = {0, 1, 2, 3, 4};
};

// The first file is always opened: it has the schema.
TEST_F(ChoosePartitionsTest, ConditionsOnKeysSelectFiles) {
  EXPECT_EQ(opened({"t.p = 2"}), (Places{0, 2}));
  EXPECT_EQ(opened({"t.p >= 1", "t.p <> 2"}), (Places{0, 1, 3}));
  EXPECT_EQ(opened({"1 = 2"}), (Places{0}));
  EXPECT_EQ(opened({"1 = 1"}), all_);
}

TEST_F(ChoosePartitionsTest, NullKeysPassOnlyTestsForNull) {
  EXPECT_EQ(opened({"t.p < 1"}), (Places{0}));
  EXPECT_EQ(opened([&] { return std::vector{make_call("is null", {value("t.p")})}; }), (Places{0, 4}));
  EXPECT_EQ(opened({"t.p is not distinct from 3"}), (Places{0, 3}));
}

TEST_F(ChoosePartitionsTest, ConditionsOnStoredColumnsSelectNothing) {
  EXPECT_EQ(opened({"t.a = 2"}), all_);
  EXPECT_EQ(opened({"t.a = t.p"}), all_);
  EXPECT_EQ(opened({"t.a = 2", "t.p = 3"}), (Places{0, 3}));
  auto either = [&] { return std::vector{Expression::logical(ExpressionKind::Or, {is("t.p = 3"), is("t.a = 1")})}; };
  EXPECT_EQ(opened(either), all_);
}

TEST_F(ChoosePartitionsTest, ErrorsAreLeftToRowsThatReachThem) {
  auto quotient = [&] { return std::vector{make_call("=", {make_call("/", {value("6"), value("t.p")}), value("6")}), is("t.p > 1")}; };
  EXPECT_EQ(opened(quotient), (Places{0, 2, 3}));
}

TEST_F(ChoosePartitionsTest, RandomConditionsSelectNothing) {
  auto sampled = [&] { return std::vector{make_call("<", {make_call("random", {}), Expression::cast(value("t.p"), TypeKind::Double)})}; };
  EXPECT_EQ(opened(sampled), all_);
}

TEST_F(ChoosePartitionsTest, FiltersOfTheScanSelectFiles) {
  LogicalPtr table = partitions();
  table->as<LogicalScan>()->filters = all({"t.p = 1"});
  after("choose_partitions", filter({"t.a = 7"}, std::move(table)));
  EXPECT_EQ(opened_, (std::vector<Places>{{0, 1}}));
}

TEST_F(ChoosePartitionsTest, HiddenKeysOfTheScanSelectFiles) {
  LogicalPtr table = partitions();
  auto* scanned = table->as<LogicalScan>();
  scanned->filters = all({"t.p = 1"});
  scanned->hidden = {scanned->columns.back()};
  scanned->columns.pop_back();
  after("choose_partitions", std::move(table), {"t.a"});
  EXPECT_EQ(opened_, (std::vector<Places>{{0, 1}}));
}

TEST_F(ChoosePartitionsTest, ConditionsAboveOtherNodesSelectNothing) {
  LogicalPtr table = partitions();
  after("choose_partitions", filter({"t.p = 1"}, limit(5, std::move(table))));
  table = partitions();
  after("choose_partitions", filter({"t.p = 1"}, join(JoinKind::Left, {"u.a = t.a"}, scan("u", {"a"}), std::move(table))));
  EXPECT_EQ(opened_, (std::vector<Places>{all_, all_}));
}

TEST_F(ChoosePartitionsTest, StackedFiltersSelectTogether) {
  LogicalPtr table = partitions();
  LogicalPtr below = filter({"t.p > 1"}, std::move(table));
  after("choose_partitions", filter({"t.p < 3"}, std::move(below)));
  EXPECT_EQ(opened_, (std::vector<Places>{{0, 2}}));
}

TEST_F(ChoosePartitionsTest, CommonTablesAreOpenedToo) {
  plan_.shared.push_back(partitions("s"));
  after("choose_partitions", scan("t", {"a"}));
  EXPECT_EQ(opened_, (std::vector<Places>{all_}));
}

TEST_F(ChoosePartitionsTest, ManyFilesAreJudgedInSlices) {
  std::vector<StoredValues> files;
  for (int i = 0; i < 5000; ++i) files.push_back({.least = 0, .greatest = 9, .partition = std::to_string(i)});
  LogicalPtr table = scan_partitions("t", files);
  ExpressionPtr ends = Expression::logical(ExpressionKind::Or, {is("t.p = 4095"), is("t.p >= 4998")});
  after("choose_partitions", make_node(LogicalFilter{{ends}}, std::move(table)));
  EXPECT_EQ(opened_, (std::vector<Places>{{0, 4095, 4998, 4999}}));
}

TEST_F(ChoosePartitionsTest, OpenTablesStayAsTheyAre) {
  LogicalPtr table = scan_files("t", {{.least = 0, .greatest = 9}, {.least = 0, .greatest = 9}});
  const TablePtr before = table->as<LogicalScan>()->table;
  after("choose_partitions", filter({"t.p = 7"}, std::move(table)));
  EXPECT_EQ(plan_.root->left().as<LogicalScan>()->table, before);
}

}  // namespace
}  // namespace pistachio
