#include "storage/read_throttle.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "base/scheduler.h"
#include "base/sleep.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Task<void> pass_and_note(ReadThrottle& device, int64_t bytes, int64_t need, std::vector<int64_t>& order) {
  Task<void> passing = device.pass(bytes, need, Clock::now());
  co_await passing;
  order.push_back(need);
}

struct Read {
  int64_t bytes = 0;
  int64_t need = 0;
};

class ReadThrottleTest : public testing::Test {
 protected:
  // Started in this order.
  std::vector<int64_t> needs_in_order_of_end(int64_t bytes_per_second, const std::vector<Read>& reads) {
    ReadThrottle device(bytes_per_second);
    std::vector<int64_t> order;
    auto run = [&]() -> Task<void> {
      std::vector<Task<void>> tasks;
      for (const Read& read : reads) tasks.push_back(pass_and_note(device, read.bytes, read.need, order));
      Task<void> all = when_all(std::move(tasks));
      co_await all;
    };
    scheduler_.run(run());
    return order;
  }

  // One worker: reads run in the order in which they are started.
  Scheduler scheduler_{{.workers = 1, .blocking_threads = 1, .on_worker_start = {}}};
};

TEST_F(ReadThrottleTest, MostUrgentReadGoesFirst) {
  // The first one finds the device free.
  EXPECT_EQ(needs_in_order_of_end(100'000, {{3000, 9}, {3000, 5}, {3000, 7}, {3000, -1}, {3000, 6}}),
            (std::vector<int64_t>{9, -1, 5, 6, 7}));
}

TEST_F(ReadThrottleTest, LongReadLetsUrgentOnesPass) {
  EXPECT_EQ(needs_in_order_of_end(10'000'000, {{2'000'000, 2}, {1000, 1}}), (std::vector<int64_t>{1, 2}));
}

TEST_F(ReadThrottleTest, LessUrgentReadWaitsForWholeLongRead) {
  EXPECT_EQ(needs_in_order_of_end(10'000'000, {{2'000'000, 1}, {1000, 2}}), (std::vector<int64_t>{1, 2}));
}

TEST_F(ReadThrottleTest, BytesPassAtTheSpeedOfTheDevice) {
  ReadThrottle device(1'000'000);
  std::vector<int64_t> order;
  auto begin = Clock::now();
  auto run = [&]() -> Task<void> {
    std::vector<Task<void>> reads;
    for (int64_t i = 0; i < 50; ++i) reads.push_back(pass_and_note(device, 2000, 0, order));
    Task<void> all = when_all(std::move(reads));
    co_await all;
  };
  scheduler_.run(run());
  EXPECT_GE(Clock::now() - begin, 100ms);
}

TEST_F(ReadThrottleTest, TimeSinceRequestCounts) {
  ReadThrottle device(1000);
  // 20,000 bytes take 20 s and were requested 21 s ago: no wait.
  scheduler_.run(device.pass(20'000, 0, Clock::now() - 21s));
}

TEST_F(ReadThrottleTest, WithoutLimitReadsDoNotWait) {
  ReadThrottle device(0);
  scheduler_.run(device.pass(INT64_MAX, 0, Clock::now()));
}

TEST_F(ReadThrottleTest, CancelledReadsLeaveTheQueue) {
  ReadThrottle device(1'000'000);
  std::vector<int64_t> order;
  CancelSource source;
  source.cancel("enough");
  // One read has its turn for two hours, another waits behind it; both are cancelled.
  auto cancelled = [&]() -> Task<void> {
    std::vector<Task<void>> reads;
    for (int64_t need : {1, 2}) reads.push_back(pass_and_note(device, int64_t{7200} * 1'000'000, need, order));
    Task<void> all = when_all(std::move(reads));
    co_await all;
  };
  EXPECT_THROW(scheduler_.run(cancelled(), source.token()), Cancelled);
  EXPECT_TRUE(order.empty());
}

}  // namespace
}  // namespace pistachio
