// Tests that every transport must pass.
#include "network/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"
#include "network/job_of_transports.h"
#include "network/message_collector.h"
#include "network/message_limits.h"

namespace pistachio {
namespace {

class TransportTest : public testing::TestWithParam<TransportKind> {};

INSTANTIATE_TEST_SUITE_P(Transports, TransportTest,
                         testing::Values(TransportKind::Loopback, TransportKind::UcxTcp, TransportKind::UcxSharedMemory), transport_name);

// Counts messages and bytes and drops them, for tests with many.
class MessageCounter : public MessageReceiver {
 public:
  void on_message(int, Message message) noexcept override {
    std::lock_guard lock(mutex_);
    messages_ += 1;
    bytes_ += message_bytes(message);
    sum_ += message.head.empty() ? 0 : std::stoll(message.head);
    changed_.notify_all();
  }
  void on_peer_lost(int, std::string) noexcept override {}

  void wait_for(int64_t messages) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 3 * kTestTimeout, [&] { return messages_ >= messages; })) {
      throw std::runtime_error("only " + std::to_string(messages_) + " messages came");
    }
  }
  int64_t messages() const {
    std::lock_guard lock(mutex_);
    return messages_;
  }
  int64_t sum() const {
    std::lock_guard lock(mutex_);
    return sum_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t messages_ = 0;
  int64_t bytes_ = 0;
  int64_t sum_ = 0;
};

TEST_P(TransportTest, EveryRankReachesEveryRankAndItself) {
  constexpr int kRanks = 3;
  std::vector<MessageCollector> receivers(kRanks);
  JobOfTransports job(GetParam(), kRanks);
  for (int rank = 0; rank < kRanks; ++rank) job[rank].start(receivers[rank]);
  SentCounter sent;
  for (int from = 0; from < kRanks; ++from) {
    for (int to = 0; to < kRanks; ++to) {
      job[from].send(to, {static_cast<uint16_t>(from * 10 + to), "head of " + std::to_string(from), numbered_bytes(100 + from)},
                     sent.callback());
    }
  }
  for (int to = 0; to < kRanks; ++to) {
    std::vector<bool> seen(kRanks);
    for (const auto& [source, message] : receivers[to].wait_for_messages(kRanks)) {
      seen[source] = true;
      EXPECT_EQ(message.kind, source * 10 + to);
      EXPECT_EQ(message.head, "head of " + std::to_string(source));
      EXPECT_TRUE(message.payload.equal(numbered_bytes(100 + source)));
    }
    EXPECT_EQ(seen, std::vector<bool>(kRanks, true));
  }
  EXPECT_EQ(sent.wait_for(kRanks * kRanks), kRanks * kRanks);
  EXPECT_EQ(sent.failed(), 0);
  job.stop_all();
}

TEST_P(TransportTest, SizesAroundEveryLimitArriveIntact) {
  MessageCollector receiver;
  JobOfTransports job(GetParam(), 2);
  job[1].start(receiver);
  std::vector<int64_t> sizes{0,      1,     63,      64,     4095,   4096,    8191,          8193,    61'183,       61'184,
                             61'185, 65536, 122'368, 262143, 262145, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1};
  for (size_t i = 0; i < sizes.size(); ++i) {
    job[0].send(1, {static_cast<uint16_t>(i), std::string(sizes[i] % (kLargestHead + 1), 'h'), numbered_bytes(sizes[i])});
  }
  job[0].send(1, {1000, std::string(kLargestHead, 'x'), {}});
  for (const auto& [source, message] : receiver.wait_for_messages(sizes.size() + 1)) {
    if (message.kind == 1000) {
      EXPECT_FALSE(message.payload.defined());
      EXPECT_EQ(message.head, std::string(kLargestHead, 'x'));
      continue;
    }
    int64_t size = sizes[message.kind];
    ASSERT_TRUE(message.payload.defined());
    EXPECT_TRUE(message.payload.equal(numbered_bytes(size))) << size;
    EXPECT_EQ(message.head.size(), static_cast<size_t>(size) % (kLargestHead + 1));
    EXPECT_TRUE(size == 0 || reinterpret_cast<uintptr_t>(message.payload.const_data_ptr()) % 64 == 0);
  }
  job.stop_all();
}

TEST_P(TransportTest, MessagesBeforeStartAreKept) {
  MessageCollector receiver;
  JobOfTransports job(GetParam(), 2);
  SentCounter sent;
  for (int i = 0; i < 10; ++i) job[0].send(1, {7, std::to_string(i), {}}, sent.callback());
  sent.wait_for(10);
  job[1].start(receiver);
  receiver.wait_for_messages(10);
  job.stop_all();
}

TEST_P(TransportTest, ManyThreadsSendSmallMessages) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25'000;
  MessageCounter receiver;
  JobOfTransports job(GetParam(), 2);
  job[1].start(receiver);
  SentCounter sent;
  std::vector<std::thread> senders;
  for (int thread = 0; thread < kThreads; ++thread) {
    senders.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) job[0].send(1, {7, std::to_string(thread * kEach + i), {}}, sent.callback());
    });
  }
  for (std::thread& sender : senders) sender.join();
  int64_t all = kThreads * kEach;
  receiver.wait_for(all);
  EXPECT_EQ(receiver.sum(), all * (all - 1) / 2);
  sent.wait_for(static_cast<int>(all));
  EXPECT_EQ(sent.failed(), 0);
  EXPECT_EQ(job[0].statistics().messages_sent, all);
  EXPECT_EQ(job[1].statistics().messages_received, all);
  EXPECT_EQ(job[1].statistics().bytes_received, job[0].statistics().bytes_sent);
  job.stop_all();
}

TEST_P(TransportTest, LargeMessagesBothWaysAtOnce) {
  constexpr int64_t kBytes = 200 << 20;
  std::vector<MessageCollector> receivers(2);
  JobOfTransports job(GetParam(), 2);
  at::Tensor payload = numbered_bytes(kBytes);
  for (int rank = 0; rank < 2; ++rank) job[rank].start(receivers[rank]);
  SentCounter sent;
  for (int rank = 0; rank < 2; ++rank) job[rank].send(1 - rank, {7, "large", payload}, sent.callback());
  for (int rank = 0; rank < 2; ++rank) EXPECT_TRUE(receivers[rank].wait_for_messages(1).front().message.payload.equal(payload));
  sent.wait_for(2);
  EXPECT_EQ(sent.failed(), 0);
  job.stop_all();
}

TEST_P(TransportTest, ReceiversMaySendAnswers) {
  class Echo : public MessageReceiver {
   public:
    explicit Echo(Transport& transport) : transport_(transport) {}
    void on_message(int source, Message message) noexcept override { transport_.send(source, std::move(message)); }
    void on_peer_lost(int, std::string) noexcept override {}

   private:
    Transport& transport_;
  };
  JobOfTransports job(GetParam(), 2);
  Echo echo(job[1]);
  MessageCounter answers;
  job[0].start(answers);
  job[1].start(echo);
  for (int i = 0; i < 1000; ++i) job[0].send(1, {7, std::to_string(i), numbered_bytes(i)});
  answers.wait_for(1000);
  EXPECT_EQ(answers.sum(), 1000 * 999 / 2);
  job.stop_all();
}

TEST_P(TransportTest, StoppingRankIsLostForOthers) {
  std::vector<MessageCollector> receivers(3);
  JobOfTransports job(GetParam(), 3);
  for (int rank = 0; rank < 3; ++rank) job[rank].start(receivers[rank]);
  SentCounter before;
  job[1].send(0, {7, "last words", {}}, before.callback());
  before.wait_for(1);
  job[1].stop();
  for (int rank : {0, 2}) {
    MessageCollector::Lost lost = receivers[rank].wait_for_lost(1);
    EXPECT_EQ(lost.front().first, 1);
    EXPECT_NE(lost.front().second.find("rank 1"), std::string::npos) << lost.front().second;
    EXPECT_NE(lost.front().second.find("left the job"), std::string::npos) << lost.front().second;
  }
  EXPECT_EQ(receivers[0].messages().size(), 1u);
  SentCounter sent;
  job[0].send(1, {7, "to nobody", {}}, sent.callback());
  sent.wait_for(1);
  EXPECT_EQ(sent.failed(), 1);
  EXPECT_NE(sent.error_text().find("rank 1"), std::string::npos) << sent.error_text();
  job[0].send(2, {7, "the others go on", {}});
  receivers[2].wait_for_messages(1);
  job.stop_all();
  EXPECT_LE(receivers[1].lost().size(), 0u);
}

TEST_P(TransportTest, StopUnderTrafficEndsAllCallbacks) {
  for (int round = 0; round < 5; ++round) {
    auto receiver = std::make_unique<MessageCounter>();
    auto idle = std::make_unique<MessageCounter>();
    JobOfTransports job(GetParam(), 2);
    job[1].start(*receiver);
    job[0].start(*idle);
    std::atomic<bool> end = false;
    std::atomic<int> given = 0;
    SentCounter sent;
    at::Tensor payload = numbered_bytes(300'000);
    std::vector<std::thread> senders;
    for (int thread = 0; thread < 2; ++thread) {
      senders.emplace_back([&] {
        while (!end) {
          int number = given.fetch_add(1);
          job[0].send(1, {7, "1", number % 3 == 0 ? payload : at::Tensor()}, sent.callback());
          if (number % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
    receiver->wait_for(20);
    int first = round % 2;
    job[first].stop();
    (first == 0 ? idle : receiver).reset();  // a later callback would be a use after free
    end = true;
    for (std::thread& sender : senders) sender.join();
    job[1 - first].stop();
    sent.wait_for(given);
    EXPECT_EQ(sent.ended(), given);
  }
}

TEST_P(TransportTest, SendAfterStopFails) {
  JobOfTransports job(GetParam(), 2);
  job[0].stop();
  job[0].stop();
  SentCounter sent;
  job[0].send(1, {7, "late", {}}, sent.callback());
  EXPECT_EQ(sent.wait_for(1), 1);
  EXPECT_EQ(sent.failed(), 1);
}

TEST_P(TransportTest, MalformedMessageIsInternalError) {
  JobOfTransports job(GetParam(), 2);
  EXPECT_THROW(job[0].send(2, {7, "", {}}), InternalError);
  EXPECT_THROW(job[0].send(-1, {7, "", {}}), InternalError);
  EXPECT_THROW(job[0].send(1, {7, std::string(kLargestHead + 1, 'x'), {}}), InternalError);
  EXPECT_THROW(job[0].send(1, {7, "", at::empty({4}, at::kInt)}), InternalError);
  EXPECT_THROW(job[0].send(1, {7, "", numbered_bytes(100).slice(0, 0, 100, 2)}), InternalError);
}

TEST_P(TransportTest, RandomTrafficBetweenFiveRanks) {
  constexpr int kRanks = 5;
  constexpr int kEach = 400;
  uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<MessageCollector> receivers(kRanks);
  JobOfTransports job(GetParam(), kRanks);
  std::vector<size_t> expected(kRanks);
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::pair<int, int64_t>>> plan(kRanks);
  for (auto& sends : plan) {
    for (int i = 0; i < kEach; ++i) {
      int to = static_cast<int>(random() % kRanks);
      sends.emplace_back(to, static_cast<int64_t>(random() % (1ull << (random() % 21))));
      expected[to] += 1;
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) job[rank].start(receivers[rank]);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      for (const auto& [to, bytes] : plan[rank]) job[rank].send(to, {7, std::to_string(bytes), numbered_bytes(bytes, rank)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const auto& [source, message] : receivers[rank].wait_for_messages(expected[rank])) {
      ASSERT_EQ(std::to_string(message.payload.numel()), message.head);
      ASSERT_TRUE(message.payload.equal(numbered_bytes(message.payload.numel(), source)));
    }
  }
  job.stop_all();
}

}  // namespace
}  // namespace pistachio
