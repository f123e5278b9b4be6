#include "profile/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pistachio {
namespace {

PhysicalPlan plan_with_cast() {
  PhysicalPlan plan;
  const ColumnId number = plan.columns.add("n", TypeKind::BigInt), text = plan.columns.add("t", TypeKind::Varchar);
  plan.root = std::make_unique<PhysicalNode>();
  plan.root->layout = {text};
  plan.root->node = PhysicalProject{{Expression::cast(plan.columns.reference(number), TypeKind::Varchar)}};
  plan.root->children.push_back(std::make_unique<PhysicalNode>());
  plan.root->children[0]->layout = {number};
  plan.root->children[0]->node = PhysicalValues{};
  return plan;
}

TEST(ExplainTest, NamesHostWorkOfQueriesOnAGpu) {
  const PhysicalPlan plan = plan_with_cast();
  const std::vector<std::string> lines = explain_text(plan, {.runs_on_gpu = true});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "    on the host: CAST AS VARCHAR"), 1) << ::testing::PrintToString(lines);
  EXPECT_NE(explain_json(plan, {.runs_on_gpu = true}).find("\"on the host\": \"CAST AS VARCHAR\""), std::string::npos);
}

TEST(ExplainTest, NamesNoHostWorkOnTheCpu) {
  const PhysicalPlan plan = plan_with_cast();
  for (const std::string& line : explain_text(plan, {})) EXPECT_EQ(line.find("on the host"), std::string::npos) << line;
}

}  // namespace
}  // namespace pistachio
