#include "storage/row_ranges.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

TEST(RowRangesTest, TouchingRangesJoin) {
  RowRanges ranges;
  ranges.add(0, 10);
  ranges.add(10, 20);
  ranges.add(25, 25);
  ranges.add(30, 40);
  EXPECT_EQ(ranges.ranges(), (std::vector<RowRange>{{0, 20}, {30, 40}}));
  EXPECT_EQ(ranges.rows(), 30);
  EXPECT_TRUE(ranges.covers(5, 20));
  EXPECT_FALSE(ranges.covers(15, 31));
  EXPECT_FALSE(ranges.overlaps(20, 30));
  EXPECT_TRUE(ranges.overlaps(39, 50));
}

TEST(RowRangesTest, AgreesWithMasks) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    auto make = [&] {
      RowRanges ranges;
      for (int64_t row = 0; row < 100;) {
        int64_t begin = row + static_cast<int64_t>(random() % 15);
        int64_t end = std::min<int64_t>(100, begin + static_cast<int64_t>(random() % 15));
        ranges.add(begin, end);
        row = std::max(begin, end) + 1;
      }
      return ranges;
    };
    auto mask_of = [](const RowRanges& ranges) {
      at::Tensor mask = ranges.mask(0, 100);
      return mask.defined() ? mask : at::ones({100}, at::kBool);
    };
    RowRanges left = make();
    RowRanges right = make();
    RowRanges both = left.intersect(right);
    EXPECT_TRUE(mask_of(both).equal(mask_of(left).logical_and(mask_of(right))));
    EXPECT_EQ(both.rows(), mask_of(both).sum().item<int64_t>());
    EXPECT_TRUE(mask_of(left).narrow(0, 20, 50).equal(left.mask(20, 70).defined() ? left.mask(20, 70) : at::ones({50}, at::kBool)));
  }
}

}  // namespace
}  // namespace pistachio
