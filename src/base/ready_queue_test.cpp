#include "base/ready_queue.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

// Distinguished by address, never resumed.
std::coroutine_handle<> handle_of(int& place) {
  return std::coroutine_handle<>::from_address(&place);
}

TEST(ReadyQueueTest, FrontSlotIsSkippedAfterFewTurns) {
  int front = 0;
  int waiting = 0;
  ReadyQueue queue;
  for (int round = 0; round < 3; ++round) {
    queue.push_last(handle_of(waiting));
    int turns = 0;
    for (queue.push_first(handle_of(front)); queue.pop() == handle_of(front); queue.push_first(handle_of(front))) ++turns;
    EXPECT_EQ(turns, 3);
    EXPECT_EQ(queue.pop(), handle_of(front));
    EXPECT_TRUE(queue.empty());
    // Alone, it keeps the front slot for any number of turns, which does not delay the next task any longer.
    for (int turn = 0; turn < 1'000; ++turn) {
      queue.push_first(handle_of(front));
      EXPECT_EQ(queue.pop(), handle_of(front));
    }
    queue.push_last(handle_of(waiting));
    queue.push_first(handle_of(front));
    EXPECT_EQ(queue.pop(), handle_of(waiting));
    EXPECT_EQ(queue.pop(), handle_of(front));
    EXPECT_FALSE(queue.pop());  // resets the count
  }
}

}  // namespace
}  // namespace pistachio
