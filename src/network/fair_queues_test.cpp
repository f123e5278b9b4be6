#include "network/fair_queues.h"

#include <gtest/gtest.h>

#include <vector>

namespace pistachio {
namespace {

constexpr int64_t kSmall = FairQueues<int>::kSmallMessage;
constexpr int64_t kLarge = kSmall + 1;

std::vector<int> drain(FairQueues<int>& queues) {
  std::vector<int> order;
  while (!queues.empty()) {
    order.push_back(queues.front());
    queues.end_turn(/*is_done=*/true);
  }
  return order;
}

TEST(FairQueuesTest, SmallAndLargeAlternate) {
  FairQueues<int> queues;
  for (int i : {1, 2, 3}) queues.queue_for(kSmall).push_back(i);
  for (int i : {11, 12, 13, 14}) queues.queue_for(kLarge).push_back(i);
  EXPECT_EQ(drain(queues), (std::vector<int>{1, 11, 2, 12, 3, 13, 14}));
}

TEST(FairQueuesTest, UnfinishedMessageKeepsItsPlace) {
  FairQueues<int> queues;
  queues.queue_for(kLarge).push_back(11);
  EXPECT_EQ(queues.front(), 11);
  queues.end_turn(/*is_done=*/false);
  queues.queue_for(kSmall).push_back(1);
  EXPECT_EQ(drain(queues), (std::vector<int>{1, 11}));
}

TEST(FairQueuesTest, EraseAndTakeAllReachBothQueues) {
  FairQueues<int> queues;
  for (int i : {1, 2}) queues.queue_for(0).push_back(i);
  for (int i : {11, 12}) queues.queue_for(kLarge).push_back(i);
  queues.erase_if([](int item) { return item % 2 == 0; });
  EXPECT_EQ(queues.take_all(), (std::deque<int>{1, 11}));
  EXPECT_TRUE(queues.empty());
}

}  // namespace
}  // namespace pistachio
