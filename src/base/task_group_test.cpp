#include "base/task_group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/run_blocking.h"
#include "base/scheduler.h"
#include "base/sleep.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

class TaskGroupTest : public testing::TestWithParam<int> {
 protected:
  Scheduler scheduler{SchedulerOptions{.workers = GetParam(), .blocking_threads = 2}};
};

Task<void> sleep_a_day() {
  co_await sleep_for(24h);
}

Task<void> fail_after_a_turn(std::string text) {
  co_await reschedule();
  throw UserError(text);
}

TEST_P(TaskGroupTest, WaitsForTensOfThousandsOfChildren) {
  std::atomic<int64_t> ended = 0;
  auto child = [&](int number) -> Task<void> {
    for (int i = 0; i < number % 4; ++i) co_await reschedule();
    ended.fetch_add(1, std::memory_order_relaxed);
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 50'000; ++i) group.spawn(child(i));
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(ended, 50'000);
}

TEST_P(TaskGroupTest, ChildrenMaySpawnSiblings) {
  std::atomic<int> ended = 0;
  // Declared outside the body, since children keep running after it ends.
  auto grow = [&](auto& self, TaskGroup& group, int depth) -> Task<void> {
    if (depth > 0) {
      group.spawn(self(self, group, depth - 1));
      group.spawn(self(self, group, depth - 1));
    }
    ++ended;
    co_return;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(grow(grow, group, 8));
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(ended, 511);
}

TEST_P(TaskGroupTest, GroupsNest) {
  std::atomic<int> ended = 0;
  auto grow = [&](auto& self, int depth) -> Task<void> {
    if (depth > 0) {
      auto grow_twice = [&](TaskGroup& group) -> Task<void> {
        group.spawn(self(self, depth - 1));
        group.spawn(self(self, depth - 1));
        co_return;
      };
      co_await with_task_group(grow_twice);
    }
    ++ended;
  };
  scheduler.run(grow(grow, 8));
  EXPECT_EQ(ended, 511);
}

TEST_P(TaskGroupTest, FirstErrorCancelsSiblingsAndIsRethrown) {
  std::atomic<int> cancelled = 0;
  auto sleeper = [&]() -> Task<void> {
    try {
      co_await sleep_for(24h);
    } catch (const Cancelled& error) {
      EXPECT_NE(error.message().find("wrong column"), std::string::npos) << error.message();
      ++cancelled;
      throw;
    }
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 10; ++i) group.spawn(sleeper());
    for (int i = 0; i < 10; ++i) co_await reschedule();
    group.spawn(fail_after_a_turn("wrong column"));
    co_await sleep_for(24h);
  };
  try {
    scheduler.run(with_task_group(body));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "wrong column");
  }
  EXPECT_LE(cancelled, 10);
}

TEST_P(TaskGroupTest, ThrowingBodyWaitsForItsChildren) {
  std::atomic<int> started = 0;
  std::atomic<int> ended = 0;
  auto child = [&]() -> Task<void> {
    struct CountAtEnd {
      std::atomic<int>& count;
      ~CountAtEnd() { ++count; }
    } at_end{ended};
    ++started;
    co_await sleep_for(24h);
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 10; ++i) group.spawn(child());
    while (started < 10) co_await reschedule();
    throw DataError("body", {"file"});
  };
  EXPECT_THROW(scheduler.run(with_task_group(body)), DataError);
  EXPECT_EQ(ended, 10);
}

TEST_P(TaskGroupTest, NonCoroutineBodyMayThrow) {
  auto body = [](TaskGroup& group) -> Task<void> {
    group.spawn(sleep_a_day());
    throw UserError("at once");
  };
  EXPECT_THROW(scheduler.run(with_task_group(body)), UserError);
}

// A child that is cancelled because its channel partner failed may report earlier than the partner itself.
TEST_P(TaskGroupTest, RealErrorTakesPrecedenceOverCancellation) {
  auto cancelled_first = []() -> Task<void> {
    co_await reschedule();
    throw Cancelled("the receiver is gone");
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(cancelled_first());
    try {
      co_await sleep_for(24h);
    } catch (const Cancelled&) {
    }
    throw DataError("the cause", {"file"});
  };
  EXPECT_THROW(scheduler.run(with_task_group(body)), DataError);
}

TEST_P(TaskGroupTest, CancelledChildrenAreStillWaitedFor) {
  CancelSource source;
  std::atomic<int> open = 0;
  auto child = [&]() -> Task<void> {
    struct Open {
      std::atomic<int>& count;
      explicit Open(std::atomic<int>& counter) : count(counter) { ++count; }
      ~Open() { --count; }
    } counted(open);
    while (true) co_await reschedule();
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 20; ++i) group.spawn(child());
    while (open < 20) co_await reschedule();
    source.cancel("by the user");
  };
  try {
    scheduler.run(with_task_group(body), source.token());
    FAIL();
  } catch (const Cancelled& error) {
    EXPECT_EQ(error.message(), "by the user");
  }
  EXPECT_EQ(open, 0);
}

struct Pair {
  std::string left;
  std::vector<int> right;
};

TEST_P(TaskGroupTest, WhenAllKeepsTheOrder) {
  auto make = [](int number) -> Task<Pair> {
    for (int i = 0; i < number % 7; ++i) co_await reschedule();
    Pair pair{"a text that does not fit into the small buffer", {number, number}};
    co_return pair;
  };
  auto all = [&]() -> Task<int> {
    std::vector<Task<Pair>> tasks;
    for (int i = 0; i < 200; ++i) tasks.push_back(make(i));
    std::vector<Pair> pairs = co_await when_all(std::move(tasks));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(pairs[static_cast<size_t>(i)].right[0], i);
    co_return static_cast<int>(pairs.size());
  };
  EXPECT_EQ(scheduler.run(all()), 200);
}

TEST_P(TaskGroupTest, WhenAllOfVoidTasks) {
  std::atomic<int> ended = 0;
  auto count = [&]() -> Task<void> {
    co_await reschedule();
    ++ended;
  };
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(count());
  scheduler.run(when_all(std::move(tasks)));
  EXPECT_EQ(ended, 100);
}

// Cancels at a random moment while tasks sit in every kind of wait; whatever happens, everything ends and nothing leaks (sanitizers).
TEST_P(TaskGroupTest, RandomCancellationAtEveryKindOfWait) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CancelSource source;
    std::atomic<int64_t> open = 0;
    auto work = [&](auto& self, uint32_t child_seed, int depth) -> Task<void> {
      struct Open {
        std::atomic<int64_t>& count;
        explicit Open(std::atomic<int64_t>& counter) : count(counter) { ++count; }
        ~Open() { --count; }
      } counted(open);
      std::mt19937 random(child_seed);
      for (int step = 0; step < 20; ++step) {
        switch (random() % 5) {
          case 0: co_await reschedule(); break;
          case 1: co_await sleep_for(std::chrono::microseconds(random() % 300)); break;
          case 2: {
            auto owned = std::make_shared<int>(1);
            auto call = [owned] { return *owned; };
            EXPECT_EQ(co_await run_blocking(call), 1);
            break;
          }
          case 3: {
            if (depth == 0) break;
            auto body = [&](TaskGroup& group) -> Task<void> {
              for (int i = 0; i < 3; ++i) group.spawn(self(self, static_cast<uint32_t>(random()), depth - 1));
              co_await sleep_for(std::chrono::microseconds(random() % 100));
            };
            co_await with_task_group(body);
            break;
          }
          default: {
            if (random() % 64 == 0) throw UserError("random failure");
            break;
          }
        }
      }
    };
    auto body = [&](TaskGroup& group) -> Task<void> {
      for (uint32_t i = 0; i < 8; ++i) group.spawn(work(work, seed * 1000 + i, 2));
      co_return;
    };
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(std::mt19937(seed)() % 4000));
      source.cancel("random moment");
    });
    try {
      scheduler.run(with_task_group(body), source.token());
    } catch (const Cancelled&) {
    } catch (const UserError& error) {
      EXPECT_EQ(error.message(), "random failure");
    }
    EXPECT_EQ(open, 0) << "seed " << seed;
    canceller.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, TaskGroupTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace pistachio
