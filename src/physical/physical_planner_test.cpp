#include "physical/physical_planner.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/function_table.h"
#include "physical/join_strategy.h"
#include "physical/physical_plan_checker.h"

namespace pistachio {
namespace {

using Kind = Distribution::Kind;
using Need = Requirement::Kind;

class PhysicalPlanTest : public ::testing::Test {
 protected:
  // A table of INTEGER columns, scanned.
  LogicalPtr scan(const std::vector<ColumnId>& ids) {
    std::vector<TableColumnInfo> columns;
    std::vector<ScanColumn> scanned;
    for (ColumnId id : ids) {
      scanned.push_back({id, columns.size()});
      columns.push_back({plan_.columns.name(id), TypeKind::Integer, ""});
    }
    return make_node(LogicalScan{Table::of_chunks("t", columns, {}, {}), scanned, {}, {}});
  }
  ColumnId add(const std::string& name, LogicalType type = TypeKind::Integer) { return plan_.columns.add(name, type); }
  ExpressionPtr column(ColumnId id) { return plan_.columns.reference(id); }
  PhysicalPlan plan(LogicalPtr root, const std::vector<ColumnId>& output) {
    plan_.root = std::move(root);
    plan_.output.clear();
    for (ColumnId id : output) plan_.output.push_back({id, plan_.columns.name(id)});
    return plan_physical(plan_);
  }
  // The same with the leftmost scan scattered over ranks and no exchange.
  void check_scattered(LogicalPtr root, const std::vector<ColumnId>& output) {
    PhysicalPlan made = plan(std::move(root), output);
    PhysicalNode* node = made.root.get();
    while (!node->children.empty()) node = node->children[0].get();
    node->distribution = {Kind::Scattered, {}};
    check_physical_plan(made);
  }

  LogicalPlan plan_;
};

TEST_F(PhysicalPlanTest, RootGivesTheOutputInOrder) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  PhysicalPlan made = plan(scan({a, b}), {b});
  EXPECT_EQ(made.root->layout, std::vector<ColumnId>{b});
  EXPECT_NE(made.root->as<PhysicalProject>(), nullptr);
  PhysicalPlan same = plan(scan({a, b}), {a, b});
  EXPECT_NE(same.root->as<PhysicalScan>(), nullptr);
}

TEST_F(PhysicalPlanTest, ScatteredRowsNeedAnExchange) {
  ColumnId a = add("a");
  EXPECT_THROW(check_scattered(scan({a}), {a}), InternalError);
  EXPECT_THROW(check_scattered(make_node(LogicalAggregate{{a}, {}}, scan({a})), {a}), InternalError);
  EXPECT_THROW(check_scattered(make_node(LogicalSort{{{column(a)}}, {}}, scan({a})), {a}), InternalError);
  EXPECT_THROW(check_scattered(make_node(LogicalLimit{1, 0}, scan({a})), {a}), InternalError);
  EXPECT_NO_THROW(plan(make_node(LogicalAggregate{{a}, {}}, scan({a})), {a}));
}

TEST_F(PhysicalPlanTest, CheckerRefusesColumnsThatAreNotGiven) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  EXPECT_THROW(plan(make_node(LogicalFilter{{make_call(">", {column(b), column(b)})}}, scan({a})), {a}), InternalError);
  EXPECT_THROW(plan(make_node(LogicalAggregate{{b}, {}}, scan({a})), {b}), InternalError);
  EXPECT_THROW(plan(make_node(LogicalRepeat{b}, scan({a})), {a}), InternalError);
  EXPECT_THROW(plan(scan({a, a}), {a}), InternalError);
}

TEST_F(PhysicalPlanTest, CheckerRefusesAColumnUsedAsAnotherType) {
  ColumnId a = add("a");
  ExpressionPtr wrong = Expression::column(a, TypeKind::BigInt);
  EXPECT_THROW(plan(make_node(LogicalFilter{{make_call(">", {wrong, wrong})}}, scan({a})), {a}), InternalError);
  ColumnId text = add("text", TypeKind::Varchar);
  EXPECT_THROW(plan(scan({text}), {text}), InternalError);
}

TEST_F(PhysicalPlanTest, JoinsRunWhereBothSidesMeet) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  PhysicalPlan made = plan(make_node(LogicalJoin{JoinKind::Inner, {make_call("=", {column(a), column(b)})}}, scan({a}), scan({b})), {a, b});
  auto& join = const_cast<PhysicalNode&>(*made.root);
  auto passes = [&](Distribution left, Distribution right) {
    join.children[0]->distribution = std::move(left);
    join.children[1]->distribution = std::move(right);
    try {
      check_physical_plan(made);
      return true;
    } catch (const InternalError&) {
      return false;
    }
  };
  std::vector<ExpressionPtr> by_a = {column(a)};
  std::vector<ExpressionPtr> by_b = {column(b)};
  EXPECT_TRUE(passes({Kind::Single, {}}, {Kind::Single, {}}));
  EXPECT_TRUE(passes({Kind::Hashed, by_a}, {Kind::Hashed, by_b}));
  EXPECT_TRUE(passes({Kind::Scattered, {}}, {Kind::Replicated, {}}));
  EXPECT_FALSE(passes({Kind::Hashed, by_a}, {Kind::Scattered, {}}));
  EXPECT_FALSE(passes({Kind::Scattered, {}}, {Kind::Scattered, {}}));
  EXPECT_FALSE(passes({Kind::Replicated, {}}, {Kind::Replicated, {}}));
  // Every rank would output the unmatched rows of a replicated side.
  std::get<PhysicalJoin>(join.node).kind = JoinKind::Full;
  EXPECT_FALSE(passes({Kind::Scattered, {}}, {Kind::Replicated, {}}));
  EXPECT_TRUE(passes({Kind::Hashed, by_a}, {Kind::Hashed, by_b}));
}

TEST_F(PhysicalPlanTest, DistributionSurvivesOnlyWhileItsKeysDo) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId renamed = add("renamed");
  PhysicalPlan made = plan(make_node(LogicalProject{{{renamed, column(a)}, {b, column(b)}}}, scan({a, b})), {renamed, b});
  PhysicalNode& project = *made.root;
  project.children[0]->distribution = {Kind::Hashed, {column(a)}};
  Distribution kept = given_distribution(project, made);
  ASSERT_EQ(kept.kind, Kind::Hashed);
  EXPECT_TRUE(same_expression(*kept.keys[0], *column(renamed)));
  ColumnId other = add("other");
  project.children[0]->distribution = {Kind::Hashed, {column(other)}};
  EXPECT_EQ(given_distribution(project, made).kind, Kind::Scattered);
}

TEST_F(PhysicalPlanTest, RequirementsAreMetByWhatIsStronger) {
  std::vector<ExpressionPtr> a = {column(add("a"))};
  std::vector<ExpressionPtr> both = {a[0], column(add("b"))};
  EXPECT_TRUE(satisfies({Kind::Hashed, a}, {Need::Together, both}));
  EXPECT_FALSE(satisfies({Kind::Hashed, both}, {Need::Together, a}));
  EXPECT_FALSE(satisfies({Kind::Hashed, both}, {Need::Paired, a}));
  EXPECT_TRUE(satisfies({Kind::Single, {}}, {Need::Together, a}));
  EXPECT_FALSE(satisfies({Kind::Replicated, {}}, {Need::Once, {}}));
  EXPECT_FALSE(satisfies({Kind::Single, {}}, {Need::Everywhere, {}}));
}

TEST_F(PhysicalPlanTest, ConditionsSplitIntoKeysBoundsAndRest) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId c = add("c");
  ColumnId d = add("d");
  auto choose = [&](const std::vector<ExpressionPtr>& conditions) {
    PhysicalJoin join;
    choose_join_strategy(conditions, {a, b}, {c, d}, join);
    return join;
  };
  ExpressionPtr equal = make_call("=", {column(c), column(a)});
  ExpressionPtr above_c = make_call(">=", {column(b), column(c)});
  ExpressionPtr below_d = make_call("<", {column(b), column(d)});
  ExpressionPtr below_c = make_call(">", {column(c), column(a)});

  PhysicalJoin by_hash = choose({above_c, equal});
  ASSERT_EQ(by_hash.keys.size(), 1U);
  EXPECT_TRUE(same_expression(*by_hash.keys[0].left, *column(a)));
  EXPECT_TRUE(by_hash.bounds.empty());
  EXPECT_EQ(by_hash.conditions.size(), 1U);

  PhysicalJoin one = choose({below_c});
  ASSERT_EQ(one.bounds.size(), 1U);
  EXPECT_FALSE(one.bounds[0].is_upper);
  EXPECT_FALSE(one.bounds[0].is_inclusive);
  EXPECT_TRUE(one.conditions.empty());

  // Two values on the right: the side is ordered by the first, the second stays a condition.
  PhysicalJoin span = choose({below_d, above_c});
  ASSERT_EQ(span.bounds.size(), 2U);
  EXPECT_TRUE(span.bounds[0].is_upper);
  EXPECT_TRUE(span.bounds[0].is_inclusive);
  EXPECT_EQ(span.conditions.size(), 1U);
  // One right value between two left ones is decided by the order alone.
  PhysicalJoin band = choose({below_d, above_c, below_c});
  ASSERT_EQ(band.bounds.size(), 2U);
  EXPECT_TRUE(same_expression(*band.bounds[0].right, *band.bounds[1].right));
  EXPECT_EQ(band.conditions.size(), 1U);

  PhysicalJoin none = choose({make_call("<>", {column(a), column(c)})});
  EXPECT_TRUE(none.keys.empty() && none.bounds.empty());
  EXPECT_EQ(none.conditions.size(), 1U);
}

}  // namespace
}  // namespace pistachio
