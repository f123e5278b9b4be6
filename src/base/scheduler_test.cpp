#include "base/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/run_blocking.h"
#include "base/sleep.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

Task<int> give(int value) {
  co_return value;
}

Task<std::string> give_text(std::string text) {
  co_return text + "!";
}

Task<int> fail_with(std::string text) {
  co_await reschedule();
  throw UserError(text);
}

Task<int64_t> sum_in_a_loop(int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += co_await give(1);
  co_return sum;
}

Task<int64_t> recurse(int64_t depth) {
  if (depth == 0) co_return 0;
  Task<int64_t> deeper = recurse(depth - 1);
  co_return co_await deeper + 1;
}

Task<int64_t> throw_from_the_depth(int64_t depth) {
  if (depth == 0) throw DataError("bottom", {"file"});
  Task<int64_t> deeper = throw_from_the_depth(depth - 1);
  co_return co_await deeper;
}

class SchedulerTest : public testing::TestWithParam<int> {
 protected:
  Scheduler scheduler{SchedulerOptions{.workers = GetParam()}};
};

TEST_P(SchedulerTest, RunReturnsTheResult) {
  EXPECT_EQ(scheduler.run(give(7)), 7);
  EXPECT_EQ(scheduler.run(give_text("a text that does not fit into the small buffer")), "a text that does not fit into the small buffer!");
}

TEST_P(SchedulerTest, RunRethrows) {
  try {
    scheduler.run(fail_with("wrong"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "wrong");
  }
}

TEST_P(SchedulerTest, MovesMoveOnlyResults) {
  auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  EXPECT_EQ(*scheduler.run(make()), 3);
}

TEST_P(SchedulerTest, AwaitsInLoopDoNotGrowStack) {
  EXPECT_EQ(scheduler.run(sum_in_a_loop(300'000)), 300'000);
}

TEST_P(SchedulerTest, DeepRecursionDoesNotGrowStack) {
  EXPECT_EQ(scheduler.run(recurse(100'000)), 100'000);
}

TEST_P(SchedulerTest, ExceptionsTravelThroughDeepRecursion) {
  EXPECT_THROW(scheduler.run(throw_from_the_depth(10'000)), DataError);
}

TEST_P(SchedulerTest, RescheduleLetsOthersRun) {
  std::atomic<bool> stop = false;
  auto spin = [&]() -> Task<void> {
    while (!stop) co_await reschedule();
  };
  auto stop_it = [&]() -> Task<void> {
    stop = true;
    co_return;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 8; ++i) group.spawn(spin());
    group.spawn(stop_it());
    co_return;
  };
  scheduler.run(with_task_group(body));
}

TEST(Reschedule, LetsTasksRunThatOtherThreadsWoke) {
  Scheduler scheduler{SchedulerOptions{.workers = 1}};
  std::coroutine_handle<> sleeper;
  bool is_awake = false;
  auto sleep_until_woken = [&]() -> Task<void> {
    struct Sleep {
      std::coroutine_handle<>* handle;
      bool await_ready() { return false; }
      bool await_suspend(SuspendedTask task) {
        *handle = task.handle;
        return true;
      }
      void await_resume() {}
    };
    Sleep sleep{&sleeper};
    co_await sleep;
    is_awake = true;
  };
  auto wake_from_outside = [&]() -> Task<void> {
    while (!sleeper) co_await reschedule();
    std::thread([&] { scheduler.schedule(sleeper); }).join();
    co_await reschedule();
    EXPECT_TRUE(is_awake);
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(sleep_until_woken());
    group.spawn(wake_from_outside());
    co_return;
  };
  scheduler.run(with_task_group(body));
}

// Two tasks that keep waking each other occupy the front slot of the queue; a third one must still get its turn.
TEST_P(SchedulerTest, TasksWakingEachOtherDoNotStarveOthers) {
  std::atomic<bool> third_ran = false;
  auto wake_forever = [&]() -> Task<void> {
    const TaskContext& context = co_await current_context();
    struct WakeFirst {
      Scheduler* scheduler;
      bool await_ready() { return false; }
      bool await_suspend(SuspendedTask task) {
        scheduler->schedule(task.handle);
        return true;
      }
      void await_resume() {}
    };
    WakeFirst wake{context.scheduler};
    while (!third_ran) co_await wake;
  };
  auto third = [&]() -> Task<void> {
    third_ran = true;
    co_return;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < scheduler.workers() * 2; ++i) group.spawn(wake_forever());
    group.spawn(third());
    co_return;
  };
  scheduler.run(with_task_group(body));
}

TEST_P(SchedulerTest, ManyThreadsRunTasksConcurrently) {
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) sum += scheduler.run(sum_in_a_loop(10));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 200 * 10);
}

TEST_P(SchedulerTest, RunOnWorkerIsRejected) {
  auto nested = [&]() -> Task<int> {
    co_await reschedule();
    co_return scheduler.run(give(1));
  };
  EXPECT_THROW(scheduler.run(nested()), InternalError);
}

TEST_P(SchedulerTest, TaskIsAwaitedAtMostOnce) {
  auto twice = []() -> Task<int> {
    Task<int> task = give(1);
    int first = co_await task;
    int second = co_await task;
    co_return first + second;
  };
  EXPECT_THROW(scheduler.run(twice()), InternalError);
}

TEST_P(SchedulerTest, UnstartedTasksAreDestroyed) {
  auto owned = std::make_shared<int>(1);
  auto keep = [](std::shared_ptr<int> value) -> Task<int> { co_return *value; };
  { Task<int> task = keep(owned); }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_P(SchedulerTest, SleepingTasksAllWake) {
  std::atomic<int> woken = 0;
  auto sleeper = [&](int number) -> Task<void> {
    co_await sleep_for(std::chrono::microseconds(number % 7 * 300));
    ++woken;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 500; ++i) group.spawn(sleeper(i));
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(woken, 500);
}

TEST_P(SchedulerTest, BlockingCallsReturnResultsAndErrors) {
  auto use = [&]() -> Task<std::string> {
    std::string owned = "a text that does not fit into the small buffer";
    auto copy = [owned] { return owned + "?"; };
    std::string text = co_await run_blocking(copy);
    co_await run_blocking([&] { text += "!"; });
    auto fail = [] { throw UserError("blocked"); };
    try {
      co_await run_blocking(fail);
    } catch (const UserError& error) {
      text += error.message();
    }
    co_return text;
  };
  EXPECT_EQ(scheduler.run(use()), "a text that does not fit into the small buffer?!blocked");
}

TEST_P(SchedulerTest, BlockingCallsDoNotRunOnWorkers) {
  std::set<std::thread::id> workers;
  std::set<std::thread::id> blocking;
  std::mutex mutex;
  auto note = [&](std::set<std::thread::id>& set) {
    std::lock_guard lock(mutex);
    set.insert(std::this_thread::get_id());
  };
  auto use = [&]() -> Task<void> {
    for (int i = 0; i < 20; ++i) {
      note(workers);
      co_await run_blocking([&] { note(blocking); });
      note(workers);
    }
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 10; ++i) group.spawn(use());
    co_return;
  };
  scheduler.run(with_task_group(body));
  for (std::thread::id id : blocking) EXPECT_FALSE(workers.contains(id));
  EXPECT_LE(blocking.size(), 4u);
  EXPECT_LE(workers.size(), static_cast<size_t>(scheduler.workers()));
}

INSTANTIATE_TEST_SUITE_P(Workers, SchedulerTest, testing::Values(1, 2, 4));

TEST(SchedulerStartTest, CallsTheStartFunctionOnEveryWorker) {
  std::mutex mutex;
  std::set<int> numbers;
  std::set<std::thread::id> threads;
  {
    auto note = [&](int number) {
      std::lock_guard lock(mutex);
      numbers.insert(number);
      threads.insert(std::this_thread::get_id());
    };
    Scheduler scheduler(SchedulerOptions{.workers = 3, .on_worker_start = note});
  }
  EXPECT_EQ(numbers, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(threads.size(), 3u);
}

TEST(SchedulerOrderTest, OneWorkerRunsTheSameOrderEveryTime) {
  auto record = [] {
    Scheduler scheduler(SchedulerOptions{.workers = 1});
    std::vector<int> order;
    auto child = [&](int number) -> Task<void> {
      for (int step = 0; step < 3; ++step) {
        order.push_back(number * 10 + step);
        co_await reschedule();
      }
    };
    auto body = [&](TaskGroup& group) -> Task<void> {
      for (int i = 0; i < 20; ++i) group.spawn(child(i));
      co_return;
    };
    scheduler.run(with_task_group(body));
    return order;
  };
  EXPECT_EQ(record(), record());
}

// A worker that runs a long step must not withhold tasks from idle workers, not even the one in its front slot.
TEST(SchedulerStealTest, TasksOfABusyWorkerAreStolen) {
  Scheduler scheduler(SchedulerOptions{.workers = 2});
  std::atomic<bool> other_ran = false;
  auto other = [&]() -> Task<void> {
    other_ran = true;
    co_return;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(other());
    while (!other_ran) std::this_thread::yield();  // keeps this worker busy
    co_return;
  };
  scheduler.run(with_task_group(body));
}

}  // namespace
}  // namespace pistachio
