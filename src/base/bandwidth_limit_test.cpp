#include "base/bandwidth_limit.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

using namespace std::chrono_literals;

TEST(BandwidthLimitTest, BytesPassOneAfterAnother) {
  BandwidthLimit limit(1000);
  auto begin = std::chrono::steady_clock::now();
  auto first = limit.reserve(500'000);
  auto second = limit.reserve(250'000);
  EXPECT_GE(first - begin, 500s);
  EXPECT_EQ(second - first, 250s);
  EXPECT_EQ(limit.free_at(), second);
}

TEST(BandwidthLimitTest, UnlimitedBytesTakeNoTime) {
  BandwidthLimit limit(0);
  EXPECT_FALSE(limit.is_on());
  auto passed = limit.reserve(INT64_MAX);
  EXPECT_LE(passed, std::chrono::steady_clock::now());
  EXPECT_LE(limit.free_at(), std::chrono::steady_clock::now());
}

}  // namespace
}  // namespace pistachio
