#include "memory/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/scheduler.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

using Item = std::unique_ptr<int>;

// Closes the channel at the end of the scope; fails it if an exception leaves the scope.
class SenderGuard {
 public:
  explicit SenderGuard(Channel<Item>& channel) : channel_(channel) {}
  SenderGuard(const SenderGuard&) = delete;
  SenderGuard& operator=(const SenderGuard&) = delete;
  ~SenderGuard() {
    if (std::uncaught_exceptions() > 0) {
      channel_.fail(std::make_exception_ptr(Cancelled("the sender failed")));
    } else {
      channel_.close();
    }
  }

 private:
  Channel<Item>& channel_;
};

class ReceiverGuard {
 public:
  explicit ReceiverGuard(Channel<Item>& channel) : channel_(channel) {}
  ReceiverGuard(const ReceiverGuard&) = delete;
  ReceiverGuard& operator=(const ReceiverGuard&) = delete;
  ~ReceiverGuard() { channel_.close_receiver(); }

 private:
  Channel<Item>& channel_;
};

Task<void> send_numbers(Channel<Item>& channel, int first, int count, int64_t bytes) {
  for (int i = 0; i < count; ++i) co_await channel.send(std::make_unique<int>(first + i), bytes);
}

Task<void> collect(Channel<Item>& channel, std::vector<int>& numbers) {
  while (std::optional<Item> item = co_await channel.receive()) numbers.push_back(**item);
}

class ChannelTest : public testing::TestWithParam<int> {
 protected:
  Scheduler scheduler{SchedulerOptions{.workers = GetParam()}};
};

TEST_P(ChannelTest, DeliversInOrderAndEndsAfterClose) {
  Channel<Item> channel(10);
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(collect(channel, numbers));
    SenderGuard guard(channel);
    co_await send_numbers(channel, 0, 5'000, 3);
  };
  scheduler.run(with_task_group(body));
  ASSERT_EQ(numbers.size(), 5'000u);
  for (int i = 0; i < 5'000; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  EXPECT_EQ(channel.statistics().items, 5'000);
  EXPECT_EQ(channel.statistics().bytes, 15'000);
  EXPECT_LE(channel.statistics().peak_bytes, 10);
}

TEST_P(ChannelTest, TakesWhatIsQueuedWithoutWaiting) {
  Channel<Item> channel(5);
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    auto send_all = [&]() -> Task<void> {
      co_await send_numbers(channel, 0, 1'000, 2);
      channel.close();
    };
    group.spawn(send_all());
    while (std::optional<Item> item = co_await channel.receive()) {
      numbers.push_back(**item);
      while (std::optional<Item> more = channel.take()) numbers.push_back(**more);
    }
  };
  EXPECT_FALSE(channel.take());
  scheduler.run(with_task_group(body));
  ASSERT_EQ(numbers.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  Channel<Item> failed(5);
  failed.fail(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_THROW(failed.take(), std::runtime_error);
}

TEST_P(ChannelTest, ManySendersAndReceivers) {
  Channel<Item> channel(64);
  std::atomic<int64_t> sum = 0;
  std::atomic<int64_t> received = 0;
  auto receive_all = [&]() -> Task<void> {
    while (std::optional<Item> item = co_await channel.receive()) {
      sum += **item;
      ++received;
    }
  };
  auto senders = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 8; ++i) group.spawn(send_numbers(channel, i * 1'000, 1'000, 7));
    co_return;
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 5; ++i) group.spawn(receive_all());
    SenderGuard guard(channel);
    co_await with_task_group(senders);
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(received, 8'000);
  EXPECT_EQ(sum, int64_t{8'000} * 7'999 / 2);
  EXPECT_LE(channel.statistics().peak_bytes, 64);
}

TEST_P(ChannelTest, OversizedItemPassesAlone) {
  Channel<Item> channel(10);
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(collect(channel, numbers));
    SenderGuard guard(channel);
    co_await send_numbers(channel, 0, 3, 4);
    co_await send_numbers(channel, 3, 3, 1'000);
    co_await send_numbers(channel, 6, 3, 4);
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_LE(channel.statistics().peak_bytes, 1'000);
}

TEST_P(ChannelTest, FullChannelStopsSender) {
  Channel<Item> channel(10);
  std::atomic<int> sent = 0;
  auto send = [&]() -> Task<void> {
    for (int i = 0; i < 10; ++i) {
      co_await channel.send(std::make_unique<int>(i), 5);
      ++sent;
    }
    channel.close();
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(send());
    while (sent < 2) co_await reschedule();
    for (int i = 0; i < 100; ++i) co_await reschedule();
    EXPECT_EQ(sent, 2);
    std::optional<Item> first = co_await channel.receive();
    EXPECT_EQ(**first, 0);
    while (std::optional<Item> item = co_await channel.receive()) {
    }
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(sent, 10);
}

TEST_P(ChannelTest, SendAfterCloseIsInternalError) {
  Channel<Item> channel(10);
  channel.close();
  EXPECT_THROW(scheduler.run(send_numbers(channel, 0, 1, 1)), InternalError);
}

TEST_P(ChannelTest, FailureReachesBothSidesAndDropsItems) {
  Channel<std::shared_ptr<int>> channel(10);
  auto tracked = std::make_shared<int>(1);
  std::atomic<int> failed = 0;
  auto send = [&]() -> Task<void> {
    try {
      while (true) {
        std::shared_ptr<int> copy = tracked;
        co_await channel.send(std::move(copy), 6);
      }
    } catch (const DataError&) {
      ++failed;
    }
  };
  auto fail = [&]() -> Task<void> {
    while (channel.statistics().items < 1) co_await reschedule();
    channel.fail(std::make_exception_ptr(DataError("page is cut short", {"a.parquet"})));
    channel.fail(std::make_exception_ptr(UserError("later")));
    try {
      co_await channel.receive();
    } catch (const DataError&) {
      ++failed;
    }
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 3; ++i) group.spawn(send());
    group.spawn(fail());
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(tracked.use_count(), 1);
}

TEST_P(ChannelTest, ClosedReceiverStopsSenders) {
  Channel<Item> channel(10);
  std::atomic<int> stopped = 0;
  auto send = [&]() -> Task<void> {
    try {
      co_await send_numbers(channel, 0, 1'000'000'000, 3);
    } catch (const ReceiverClosed&) {
      ++stopped;
    }
  };
  auto take_some = [&]() -> Task<void> {
    ReceiverGuard guard(channel);
    for (int i = 0; i < 100; ++i) co_await channel.receive();
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 3; ++i) group.spawn(send());
    group.spawn(take_some());
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(stopped, 3);
}

TEST_P(ChannelTest, SenderErrorIsReported) {
  Channel<Item> channel(10);
  auto failing_send = [&]() -> Task<void> {
    SenderGuard guard(channel);
    co_await send_numbers(channel, 0, 10, 1);
    throw DataError("page is cut short", {"a.parquet"});
  };
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(failing_send());
    group.spawn(collect(channel, numbers));
    co_return;
  };
  EXPECT_THROW(scheduler.run(with_task_group(body)), DataError);
}

TEST_P(ChannelTest, FailPassesTheErrorToTheReceiver) {
  Channel<Item> channel(10);
  auto send = [&]() -> Task<void> {
    co_await send_numbers(channel, 0, 3, 1);
    channel.fail(std::make_exception_ptr(DataError("page is cut short", {"a.parquet"})));
  };
  bool received_error = false;
  auto receive = [&]() -> Task<void> {
    try {
      while (std::optional<Item> item = co_await channel.receive()) {
      }
    } catch (const DataError&) {
      received_error = true;
    }
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(send());
    group.spawn(receive());
    co_return;
  };
  scheduler.run(with_task_group(body));
  EXPECT_TRUE(received_error);
}

TEST_P(ChannelTest, CancellationWakesBothSides) {
  CancelSource source;
  Channel<Item> empty(10);
  Channel<Item> full(10);
  std::atomic<int> started = 0;
  auto receive = [&]() -> Task<void> {
    ++started;
    co_await empty.receive();
  };
  auto send = [&]() -> Task<void> {
    ++started;
    co_await send_numbers(full, 0, 5, 10);
  };
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      group.spawn(receive());
      group.spawn(send());
    }
    while (started < 6) co_await reschedule();
    source.cancel("enough");
  };
  EXPECT_THROW(scheduler.run(with_task_group(body), source.token()), Cancelled);
}

// A pipeline of three stages, stopped in a random way at a random moment: cancelled, failed, or its receiver closed.
TEST_P(ChannelTest, RandomEndsOfAPipeline) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    const uint32_t kind = random() % 4;
    const uint32_t moment = random() % 400;
    CancelSource source;
    Channel<Item> first(random() % 40);
    Channel<Item> second(random() % 40);
    std::atomic<uint32_t> seen = 0;
    auto forward = [&](Channel<Item>& from, Channel<Item>& to) -> Task<void> {
      while (std::optional<Item> item = co_await from.receive()) {
        if (seen++ == moment && kind == 1) throw UserError("random failure");
        co_await to.send(std::move(*item), 9);
      }
    };
    auto senders = [&](TaskGroup& group) -> Task<void> {
      for (int i = 0; i < 3; ++i) group.spawn(send_numbers(first, i * 100, 100, i * 5));
      co_return;
    };
    auto send_all = [&]() -> Task<void> {
      SenderGuard guard(first);
      co_await with_task_group(senders);
    };
    auto forwarders = [&](TaskGroup& group) -> Task<void> {
      for (int i = 0; i < 2; ++i) group.spawn(forward(first, second));
      co_return;
    };
    auto forward_all = [&]() -> Task<void> {
      ReceiverGuard receiver(first);
      SenderGuard sender(second);
      co_await with_task_group(forwarders);
    };
    std::atomic<int> received = 0;
    auto receive_all = [&]() -> Task<void> {
      ReceiverGuard guard(second);
      while (std::optional<Item> item = co_await second.receive()) {
        ++received;
        if (kind == 2 && seen > moment) co_return;
        if (kind == 3 && seen > moment) source.cancel("random moment");
      }
    };
    auto body = [&](TaskGroup& group) -> Task<void> {
      group.spawn(send_all());
      group.spawn(forward_all());
      group.spawn(receive_all());
      co_return;
    };
    try {
      scheduler.run(with_task_group(body), source.token());
      if (kind == 0) {
        EXPECT_EQ(received, 300);
      }
    } catch (const UserError&) {
      EXPECT_EQ(kind, 1u) << "seed " << seed;
    } catch (const Cancelled&) {
      EXPECT_GE(kind, 2u) << "seed " << seed;
    }
    EXPECT_LE(first.statistics().peak_bytes, 40);
    EXPECT_LE(second.statistics().peak_bytes, 40);
  }
}

// With one worker, a task that reschedules knows that the others got as far as they could.
Task<void> let_the_others_run() {
  for (int i = 0; i < 100; ++i) co_await reschedule();
}

TEST(ChannelOneWorkerTest, WaitingSendsAreDeliveredAfterClose) {
  Scheduler scheduler(SchedulerOptions{.workers = 1});
  Channel<Item> channel(1);
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (int i = 0; i < 4; ++i) group.spawn(send_numbers(channel, i, 1, 1));
    co_await let_the_others_run();
    channel.close();
    co_await collect(channel, numbers);
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3}));
}

TEST(ChannelOneWorkerTest, StalledTimeIsCounted) {
  Scheduler scheduler(SchedulerOptions{.workers = 1});
  Channel<Item> channel(1);
  std::vector<int> numbers;
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(collect(channel, numbers));
    co_await let_the_others_run();
    EXPECT_EQ(channel.statistics().receivers_stalled.count(), 0) << "counted when the wait ends";
    co_await send_numbers(channel, 0, 3, 1);
    channel.close();
  };
  scheduler.run(with_task_group(body));
  EXPECT_GT(channel.statistics().receivers_stalled.count(), 0);
  EXPECT_GT(channel.statistics().senders_stalled.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, ChannelTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace pistachio
