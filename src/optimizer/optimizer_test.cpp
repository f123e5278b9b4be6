#include "optimizer/optimizer.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

LogicalPlan one_row() {
  LogicalPlan plan;
  plan.root = make_node(LogicalValues{{}, {{}}});
  return plan;
}

TEST(OptimizerTest, RunsToTheEndUnlessCancelled) {
  LogicalPlan plan = one_row();
  CancelSource source({}, std::chrono::steady_clock::now() + std::chrono::hours(1));
  optimize(plan, Settings{}, source.token());
  EXPECT_NE(plan.root, nullptr);
}

TEST(OptimizerTest, StopsWhenCancelled) {
  LogicalPlan plan = one_row();
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(optimize(plan, Settings{}, source.token()), Cancelled);
}

TEST(OptimizerTest, StopsAtTheDeadline) {
  LogicalPlan plan = one_row();
  CancelSource source({}, std::chrono::steady_clock::now() - std::chrono::milliseconds(1));
  EXPECT_THROW(optimize(plan, Settings{}, source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
