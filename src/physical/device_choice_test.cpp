#include "physical/device_choice.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "catalog/table.h"

namespace pistachio {
namespace {

PhysicalPtr scan_of(int64_t rows, std::vector<size_t> sources) {
  const Column numbers = Column::fixed(TypeKind::BigInt, at::zeros({rows}, at::kLong));
  const Column days = Column::fixed(TypeKind::Date, at::zeros({rows}, at::kInt));
  auto node = std::make_unique<PhysicalNode>();
  PhysicalScan scan;
  scan.table = Table::of_chunks("t", {{"n", TypeKind::BigInt}, {"d", TypeKind::Date}}, {Chunk({numbers, days}, rows)}, {});
  scan.sources = std::move(sources);
  node->node = std::move(scan);
  return node;
}

TEST(DeviceChoiceTest, CountsColumnsThatScansRead) {
  PhysicalPlan plan;
  plan.root = scan_of(1000, {0});
  EXPECT_EQ(scanned_bytes(plan), 8000);
  plan.root = scan_of(1000, {0, 1});
  EXPECT_EQ(scanned_bytes(plan), 12000);
}

TEST(DeviceChoiceTest, CountsInputsAndSharedPlans) {
  PhysicalPlan plan;
  plan.root = std::make_unique<PhysicalNode>();
  plan.root->node = PhysicalLimit{};
  plan.root->children.push_back(scan_of(10, {0}));
  plan.shared.push_back(nullptr);
  plan.shared.push_back(scan_of(100, {0}));
  EXPECT_EQ(scanned_bytes(plan), 880);
}

TEST(DeviceChoiceTest, SmallInputsStayOnTheHost) {
  EXPECT_FALSE(is_faster_on_gpu(0, 16));
  EXPECT_FALSE(is_faster_on_gpu(1e6, 16));
  EXPECT_FALSE(is_faster_on_gpu(1e8, 16));
  EXPECT_TRUE(is_faster_on_gpu(1e9, 16));
}

TEST(DeviceChoiceTest, FewThreadsMakeTheGpuWorthwhileEarlier) {
  EXPECT_TRUE(is_faster_on_gpu(1e8, 2));
  EXPECT_FALSE(is_faster_on_gpu(1e6, 2));
}

}  // namespace
}  // namespace pistachio
