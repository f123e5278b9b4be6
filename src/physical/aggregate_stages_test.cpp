#include "physical/aggregate_stages.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

ExpressionPtr column(int32_t id) {
  return Expression::column(ColumnId{id}, TypeKind::Integer);
}

AggregateCall call(std::string_view name, ExpressionPtr argument, ExpressionPtr filter = nullptr, bool distinct = false) {
  AggregateCall made;
  made.function = find_aggregate(name);
  made.argument = std::move(argument);
  made.filter = std::move(filter);
  made.distinct = distinct;
  return made;
}

TEST(ShareStates, SumServesCountAndAverageOfItsArgument) {
  AggregateStates states = share_states({call("count", column(1)), call("avg", column(1)), call("sum", column(1)), call("max", column(1))});
  ASSERT_EQ(states.kept.size(), 2u);
  EXPECT_EQ(states.kept[0].function, find_aggregate("avg"));
  EXPECT_EQ(states.state_of_call, (std::vector<size_t>{0, 0, 0, 1}));
}

TEST(ShareStates, OtherArgumentsFiltersAndDistinctStayApart) {
  ExpressionPtr filter = Expression::column(ColumnId{9}, TypeKind::Boolean);
  AggregateStates states = share_states({call("sum", column(1)), call("sum", column(2)), call("sum", column(1), filter),
                                         call("count", column(1), nullptr, true), call("count", column(1), filter)});
  EXPECT_EQ(states.kept.size(), 4u);
  EXPECT_EQ(states.state_of_call, (std::vector<size_t>{0, 1, 2, 3, 2}));
}

}  // namespace
}  // namespace pistachio
