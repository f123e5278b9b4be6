#include "storage/scan_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pistachio {
namespace {

ScanPlan plan_of_units(const std::vector<int64_t>& bytes) {
  ScanPlan plan;
  for (size_t i = 0; i < bytes.size(); ++i) {
    ScanUnit unit;
    unit.memory_bytes = bytes[i];
    unit.need = 1000 + static_cast<int64_t>(i);
    plan.units.push_back(unit);
  }
  return plan;
}

std::vector<size_t> in_order_of_need(const ScanPlan& plan) {
  std::vector<size_t> order(plan.units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t left, size_t right) { return plan.units[left].need < plan.units[right].need; });
  return order;
}

TEST(ScanPlanTest, EveryUnitIsAssignedOnceAndBytesBalance) {
  ScanPlan plan = plan_of_units({700, 10, 20, 300, 400, 90, 80, 100, 600, 0, 0});
  std::vector<std::vector<size_t>> shares = deal_units(plan, 3);
  ASSERT_EQ(shares.size(), 3u);
  std::vector<size_t> all;
  for (const std::vector<size_t>& share : shares) {
    int64_t bytes = 0;
    for (size_t unit : share) bytes += plan.units[unit].memory_bytes;
    EXPECT_GE(bytes, 700);
    EXPECT_LE(bytes, 800);
    all.insert(all.end(), share.begin(), share.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<size_t> expected(plan.units.size());
  std::iota(expected.begin(), expected.end(), size_t{0});
  EXPECT_EQ(all, expected);
}

TEST(ScanPlanTest, RanksBeginAtDifferentPartsOfATable) {
  ScanPlan plan = plan_of_units(std::vector<int64_t>(16, 100));
  std::vector<std::vector<size_t>> shares = deal_units(plan, 4);
  for (size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(shares[rank].front() / 4, rank);
}

TEST(ScanPlanTest, OwnUnitsHavePriority) {
  ScanPlan plan = plan_of_units(std::vector<int64_t>(5, 100));
  put_first(plan, {3, 1});
  EXPECT_EQ(in_order_of_need(plan), (std::vector<size_t>{3, 1, 0, 2, 4}));
  EXPECT_EQ(plan.units[3].need, 1000);
  ScanPlan nothing;
  put_first(nothing, {});
  EXPECT_TRUE(nothing.units.empty());
}

}  // namespace
}  // namespace pistachio
