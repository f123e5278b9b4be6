#include "exec/exchange/combiner_router.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

TEST(CombinerOf, RanksOfAHostShareTheDestinations) {
  const std::vector<int64_t> hosts = {0, 0, 1, 1};
  for (int sender : {0, 1}) {
    EXPECT_EQ(combiner_of(2, sender, hosts), 0);
    EXPECT_EQ(combiner_of(3, sender, hosts), 1);
  }
  for (int sender : {2, 3}) {
    EXPECT_EQ(combiner_of(0, sender, hosts), 2);
    EXPECT_EQ(combiner_of(1, sender, hosts), 3);
  }
}

TEST(CombinerOf, WhatStaysOnTheHostGoesToItsDestination) {
  const std::vector<int64_t> hosts = {0, 1, 0, 1, 1};
  for (int sender : {1, 3, 4}) {
    for (int destination : {1, 3, 4}) EXPECT_EQ(combiner_of(destination, sender, hosts), destination);
  }
}

// Otherwise rows of a group would not meet.
TEST(CombinerOf, AllRanksOfAHostAgree) {
  const std::vector<int64_t> hosts = {0, 2, 0, 1, 2, 0, 3};
  const int ranks = static_cast<int>(hosts.size());
  for (int destination = 0; destination < ranks; ++destination) {
    for (int sender = 0; sender < ranks; ++sender) {
      const int combiner = combiner_of(destination, sender, hosts);
      EXPECT_EQ(hosts[static_cast<size_t>(combiner)], hosts[static_cast<size_t>(sender)]);
      EXPECT_EQ(combiner_of(destination, combiner, hosts), combiner);
    }
  }
}

}  // namespace
}  // namespace pistachio
