#include "base/cancel_token.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/run_blocking.h"
#include "base/scheduler.h"
#include "base/sleep.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

TEST(CancelTokenTest, EmptyTokenIsNeverCancelled) {
  CancelToken token;
  EXPECT_FALSE(token.is_cancelled());
  token.throw_if_cancelled();
  CancelCallback callback(token, [] { FAIL(); });
}

TEST(CancelTokenTest, FirstReasonStays) {
  CancelSource source;
  source.cancel("by the user");
  source.cancel("too late");
  try {
    source.token().throw_if_cancelled();
    FAIL();
  } catch (const Cancelled& cancelled) {
    EXPECT_EQ(cancelled.message(), "by the user");
  }
}

TEST(CancelTokenTest, CancellationPropagatesToChildrenOnly) {
  CancelSource parent;
  CancelSource first(parent.token());
  CancelSource second(parent.token());
  CancelSource grandchild(second.token());
  first.cancel("first only");
  EXPECT_FALSE(parent.is_cancelled());
  EXPECT_FALSE(second.is_cancelled());
  parent.cancel("all");
  EXPECT_EQ(first.token().reason(), "first only");
  EXPECT_EQ(grandchild.token().reason(), "all");
  CancelSource late(parent.token());
  EXPECT_EQ(late.token().reason(), "all");
}

TEST(CancelTokenTest, CallbacksRunOnceAndNotAfterRemoval) {
  CancelSource source;
  int calls = 0;
  int calls_of_removed = 0;
  CancelCallback kept(source.token(), [&] { ++calls; });
  {
    CancelCallback removed(source.token(), [&] { ++calls_of_removed; });
  }
  source.cancel("now");
  CancelCallback late(source.token(), [&] { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(calls_of_removed, 0);
}

TEST(CancelTokenTest, LastOwnerMayReleaseInCallback) {
  CancelSource parent;
  auto child = std::make_unique<CancelSource>(parent.token());
  CancelCallback callback(child->token(), [&] { child.reset(); });
  parent.cancel("now");
  EXPECT_EQ(child, nullptr);
}

TEST(CancelTokenTest, RemovalWaitsForRunningCallback) {
  for (int round = 0; round < 300; ++round) {
    CancelSource source;
    auto target = std::make_unique<std::atomic<int>>(0);
    std::optional<CancelCallback> callback(std::in_place, source.token(), [&] { target->fetch_add(1); });
    std::thread canceller([&] { source.cancel("race"); });
    callback.reset();
    target.reset();
    canceller.join();
  }
}

TEST(CancelTokenTest, ChildrenMayBeCreatedDuringCancellation) {
  for (int round = 0; round < 100; ++round) {
    CancelSource parent;
    std::thread canceller([&] { parent.cancel("race"); });
    for (int i = 0; i < 20; ++i) {
      CancelSource child(parent.token());
      CancelSource grandchild(child.token());
    }
    canceller.join();
  }
}

TEST(CancelTokenTest, EarliestDeadlineOfAncestorsApplies) {
  SteadyTime now = std::chrono::steady_clock::now();
  CancelSource parent({}, now + 1h);
  EXPECT_EQ(CancelSource(parent.token(), now + 2h).token().deadline(), now + 1h);
  EXPECT_EQ(CancelSource(parent.token(), now + 1min).token().deadline(), now + 1min);
  EXPECT_EQ(CancelSource(parent.token()).token().deadline(), now + 1h);
  EXPECT_FALSE(CancelToken().deadline().has_value());
}

class CancelTaskTest : public testing::Test {
 protected:
  void expect_cancelled(Task<void> task, const CancelToken& token, const std::string& text) {
    try {
      scheduler.run(std::move(task), token);
      FAIL() << "not cancelled";
    } catch (const Cancelled& cancelled) {
      EXPECT_NE(cancelled.message().find(text), std::string::npos) << cancelled.message();
    }
  }

  Scheduler scheduler{SchedulerOptions{.workers = 2, .blocking_threads = 1}};
};

TEST_F(CancelTaskTest, DeadlineEndsSleepingTask) {
  auto sleep = []() -> Task<void> { co_await sleep_for(24h); };
  CancelSource source({}, std::chrono::steady_clock::now() + 10ms);
  expect_cancelled(sleep(), source.token(), "the deadline passed");
  CancelSource past({}, std::chrono::steady_clock::now() - 1s);
  expect_cancelled(sleep(), past.token(), "the deadline passed");
}

TEST_F(CancelTaskTest, DeadlineEndsBusyTaskAtNextAwait) {
  auto busy = []() -> Task<void> {
    while (true) co_await reschedule();
  };
  CancelSource source({}, std::chrono::steady_clock::now() + 10ms);
  expect_cancelled(busy(), source.token(), "the deadline passed");
}

TEST_F(CancelTaskTest, CancellationFromOutsideWakesASleepingTask) {
  CancelSource source;
  std::atomic<bool> started = false;
  auto sleep = [&]() -> Task<void> {
    started = true;
    co_await sleep_for(24h);
  };
  std::thread canceller([&] {
    while (!started) std::this_thread::yield();
    source.cancel("enough");
  });
  expect_cancelled(sleep(), source.token(), "enough");
  canceller.join();
}

TEST_F(CancelTaskTest, CancelledTokenPreventsTaskStart) {
  CancelSource source;
  source.cancel("never");
  bool started = false;
  auto task = [&]() -> Task<void> {
    started = true;
    co_return;
  };
  expect_cancelled(task(), source.token(), "never");
  EXPECT_FALSE(started);
}

TEST_F(CancelTaskTest, CancelDropsQueuedAndAwaitsRunningBlockingCalls) {
  CancelSource source;
  std::atomic<bool> first_runs = false;
  std::atomic<bool> first_ended = false;
  std::atomic<bool> second_ran = false;
  std::atomic<bool> second_gave_up = false;
  // Occupies the only thread until the other task is gone, so that its queued job cannot run.
  auto long_call = [&] {
    first_runs = true;
    while (!second_gave_up) std::this_thread::yield();
    first_ended = true;
  };
  auto first = [&]() -> Task<void> {
    co_await run_blocking(long_call);
    EXPECT_TRUE(first_ended);
    co_await reschedule();
    ADD_FAILURE() << "the task should be cancelled here";
  };
  auto second = [&]() -> Task<void> {
    auto short_call = [&] { second_ran = true; };
    try {
      while (!first_runs) co_await reschedule();
      co_await run_blocking(short_call);
    } catch (const Cancelled&) {
      second_gave_up = true;
      throw;
    }
  };
  auto cancel = [&]() -> Task<void> {
    while (!first_runs) co_await reschedule();
    for (int i = 0; i < 100; ++i) co_await reschedule();
    source.cancel("enough");
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(first());
    group.spawn(second());
    group.spawn(cancel());
    co_return;
  };
  expect_cancelled(with_task_group(body), source.token(), "enough");
  EXPECT_TRUE(first_ended);
  EXPECT_FALSE(second_ran);
}

}  // namespace
}  // namespace pistachio
