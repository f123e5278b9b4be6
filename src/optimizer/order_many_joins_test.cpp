#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/function_table.h"
#include "optimizer/join_region.h"

namespace pistachio {
namespace {

class OrderManyJoins : public ::testing::Test {
 protected:
  // Inputs of one row and one column each.
  void add_inputs(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      columns_.push_back(plan_.columns.add("a", TypeKind::Integer));
      region_.inputs.push_back(make_node(LogicalValues{{columns_.back()}, {{ScalarValue::of_integer(TypeKind::Integer, 1)}}}));
    }
  }
  void equate(size_t left, size_t right) {
    region_.conditions.push_back(make_call("=", {plan_.columns.reference(columns_[left]), plan_.columns.reference(columns_[right])}));
  }
  LogicalPtr order() { return order_many_joins(CardinalityEstimator(plan_), std::move(region_), {}); }

  static size_t depth(const LogicalNode& node) {
    size_t deepest = 0;
    for (const LogicalPtr& child : node.children) deepest = std::max(deepest, depth(*child));
    return deepest + 1;
  }
  static size_t products(const LogicalNode& node) {
    const auto* join = node.as<LogicalJoin>();
    size_t count = join != nullptr && join->conditions.empty() ? 1 : 0;
    for (const LogicalPtr& child : node.children) count += products(*child);
    return count;
  }

  LogicalPlan plan_;
  JoinRegion region_;
  std::vector<ColumnId> columns_;
};

TEST_F(OrderManyJoins, ChainBecomesBalancedTree) {
  add_inputs(1'000);
  for (size_t i = 1; i < 1'000; ++i) equate(i - 1, i);
  LogicalPtr ordered = order();
  EXPECT_EQ(output_columns(*ordered).size(), 1'000u);
  EXPECT_EQ(products(*ordered), 0u);
  EXPECT_LE(depth(*ordered), 20u);
}

TEST_F(OrderManyJoins, StarNeedsNoProduct) {
  add_inputs(300);
  for (size_t i = 1; i < 300; ++i) equate(0, i);
  EXPECT_EQ(products(*order()), 0u);
}

TEST_F(OrderManyJoins, CrossProductsComeLast) {
  add_inputs(100);
  for (size_t i = 0; i < 100; i += 2) equate(i, i + 1);
  LogicalPtr ordered = order();
  EXPECT_EQ(products(*ordered), 49u);
  EXPECT_LE(depth(*ordered), 10u);
}

TEST_F(OrderManyJoins, ConditionOnThreeInputsIsKept) {
  add_inputs(70);
  ExpressionPtr sum = make_call("+", {plan_.columns.reference(columns_[3]), plan_.columns.reference(columns_[40])});
  region_.conditions.push_back(make_call("=", {sum, plan_.columns.reference(columns_[66])}));
  region_.conditions.push_back(make_call("=", {plan_.columns.reference(columns_[5]), plan_.columns.reference(columns_[5])}));
  LogicalPtr ordered = order();
  ASSERT_NE(ordered->as<LogicalFilter>(), nullptr);  // what concerns one input only
  EXPECT_EQ(products(*ordered), 68u);
}

TEST_F(OrderManyJoins, StopsWhenCancelled) {
  add_inputs(100);
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(order_many_joins(CardinalityEstimator(plan_), std::move(region_), source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
