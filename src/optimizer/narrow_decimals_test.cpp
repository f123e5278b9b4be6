#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class NarrowDecimalsTest : public RuleTest {
 protected:
  // Times 1000, it is a DECIMAL(19,2) by type, but every product has at most 18 digits.
  static LogicalType price() { return LogicalType::decimal(15, 2); }
  ExpressionPtr times(const std::string& left, const std::string& right) { return make_call("*", {value(left), value(right)}); }
  LogicalPtr sum(const ExpressionPtr& argument, LogicalPtr child, const std::string& function = "sum") {
    LogicalAggregate node;
    AggregateCall call;
    call.function = find_aggregate(function);
    call.argument = argument;
    call.type = call.function->resolve(argument->type())->second;
    call.id = add("total", call.type);
    node.calls.push_back(call);
    return make_node(std::move(node), std::move(child));
  }
  // The type of the argument of the only call of the plan's root.
  std::string argument_type_after(LogicalPtr root) {
    after("narrow_decimals", std::move(root), {"total"});
    return plan_.root->as<LogicalAggregate>()->calls[0].argument->type().to_string();
  }
};

TEST_F(NarrowDecimalsTest, ProductOfSmallFactorsIsNarrow) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  const ExpressionPtr product = times("t.a", "1000");
  ASSERT_TRUE(product->type().is_wide());
  LogicalPtr root = sum(product, std::move(table));
  const LogicalType result = plan_.columns.type(id("total"));
  EXPECT_EQ(argument_type_after(std::move(root)), "DECIMAL(18,2)");
  EXPECT_EQ(plan_.root->as<LogicalAggregate>()->calls[0].type, result);
}

TEST_F(NarrowDecimalsTest, ProductOfLargeFactorsStaysWide) {
  LogicalPtr table = scan("t", {"a", "b"}, 10, price());
  const ExpressionPtr product = times("t.a", "t.b");
  EXPECT_EQ(argument_type_after(sum(product, std::move(table))), product->type().to_string());
}

TEST_F(NarrowDecimalsTest, LeastValueThatNeedsNineteenDigitsStaysWide) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  const ExpressionPtr exceeds = times("t.a", "1001");
  EXPECT_EQ(argument_type_after(sum(exceeds, std::move(table))), "DECIMAL(19,2)");
}

TEST_F(NarrowDecimalsTest, BranchesOfCaseShareOneType) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  const ExpressionPtr product = times("t.a", "1000");
  const ExpressionPtr zero = Expression::constant(ScalarValue::of_integer(product->type(), 0));
  const ExpressionPtr either = Expression::conditional(ExpressionKind::Case, {is("t.a > 5"), product, zero}, product->type());
  EXPECT_EQ(argument_type_after(sum(either, std::move(table))), "DECIMAL(18,2)");
  const Expression& argument = *plan_.root->as<LogicalAggregate>()->calls[0].argument;
  EXPECT_EQ(argument.children()[2]->type(), argument.children()[1]->type());
}

TEST_F(NarrowDecimalsTest, ComputedColumnIsReplacedByNarrowerOne) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  LogicalPtr computed = project({{"twice", times("t.a", "1000")}}, std::move(table));
  LogicalPtr filtered = filter({"twice > 7"}, std::move(computed));
  EXPECT_EQ(argument_type_after(sum(value("twice"), std::move(filtered))), "DECIMAL(18,2)");
}

TEST_F(NarrowDecimalsTest, ColumnUsedAsGroupKeepsItsType) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  LogicalPtr computed = project({{"twice", times("t.a", "1000")}}, std::move(table));
  LogicalPtr groups = aggregate({"twice"}, "n", std::move(computed));
  after("narrow_decimals", std::move(groups), {"twice", "n"});
  EXPECT_TRUE(plan_.root->left().as<LogicalProject>()->columns[0].expression->type().is_wide());
}

TEST_F(NarrowDecimalsTest, ExtremesKeepTheirType) {
  LogicalPtr table = scan("t", {"a"}, 10, price());
  const ExpressionPtr product = times("t.a", "1000");
  EXPECT_EQ(argument_type_after(sum(product, std::move(table), "max")), product->type().to_string());
}

}  // namespace
}  // namespace pistachio
