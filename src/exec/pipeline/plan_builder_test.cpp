#include "exec/pipeline/plan_builder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/pipeline/scan_order.h"

namespace pistachio {
namespace {

using Kind = Distribution::Kind;

template <typename Node, typename... Children>
PhysicalPtr make_node(Node node, Kind distribution, Children... children) {
  auto made = std::make_unique<PhysicalNode>();
  made->node = std::move(node);
  made->distribution.kind = distribution;
  (made->children.push_back(std::move(children)), ...);
  return made;
}

PhysicalPtr scan() {
  return make_node(PhysicalScan{}, Kind::Scattered);
}

TEST(ScanOrderTest, BuildSidesComeFirst) {
  PhysicalPtr probe = scan(), build_of_build = scan(), probe_of_build = scan();
  const PhysicalNode* expected[] = {build_of_build.get(), probe_of_build.get(), probe.get()};
  PhysicalPtr build = make_node(PhysicalJoin{}, Kind::Scattered, std::move(probe_of_build), std::move(build_of_build));
  PhysicalPlan plan;
  plan.root = make_node(PhysicalJoin{}, Kind::Scattered, std::move(probe), std::move(build));
  ScanNumbers numbers = scans_in_order_of_need(plan);
  ASSERT_EQ(numbers.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(numbers.at(expected[i]), i);
}

TEST(ScanOrderTest, CommonTablesComeAtTheirFirstRead) {
  PhysicalPtr probe = scan(), other = scan(), common = scan();
  const PhysicalNode* expected[] = {common.get(), probe.get(), other.get()};
  PhysicalPlan plan;
  PhysicalPtr joined = make_node(PhysicalJoin{}, Kind::Scattered, std::move(probe), make_node(PhysicalSharedRead{}, Kind::Scattered));
  plan.root = make_node(PhysicalUnion{}, Kind::Scattered, std::move(joined), std::move(other), make_node(PhysicalSharedRead{}, Kind::Scattered));
  plan.shared.push_back(std::move(common));
  ScanNumbers numbers = scans_in_order_of_need(plan);
  ASSERT_EQ(numbers.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(numbers.at(expected[i]), i);
}

// A join with a filter, whose inputs and result are distributed as given.
bool filter_is_same_everywhere(Kind probe, Kind build, Kind joined) {
  PhysicalJoin join;
  join.filter = BuildSideFilter{};
  PhysicalPlan plan;
  plan.root = make_node(std::move(join), joined, make_node(PhysicalValues{}, probe), make_node(PhysicalValues{}, build));
  ExecutablePlan made = build_executable(plan, 0);
  EXPECT_EQ(made.filters.size(), 1u);
  EXPECT_TRUE(made.filters[0].is_made_here);
  return made.filters[0].is_same_everywhere;
}

TEST(PlanBuilderTest, CancelledTokenStopsBuilding) {
  PhysicalPlan plan;
  plan.root = make_node(PhysicalValues{}, Kind::Single);
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(build_executable(plan, 0, source.token()), Cancelled);
}

TEST(PlanBuilderTest, ReplicatedBuildSidesNeedNoFilterMerge) {
  EXPECT_TRUE(filter_is_same_everywhere(Kind::Scattered, Kind::Replicated, Kind::Scattered));
  EXPECT_TRUE(filter_is_same_everywhere(Kind::Hashed, Kind::Replicated, Kind::Hashed));
  EXPECT_FALSE(filter_is_same_everywhere(Kind::Hashed, Kind::Hashed, Kind::Hashed));
  // The join runs on rank 0 only; the other ranks do not have its build rows.
  EXPECT_FALSE(filter_is_same_everywhere(Kind::Single, Kind::Replicated, Kind::Single));
}

}  // namespace
}  // namespace pistachio
