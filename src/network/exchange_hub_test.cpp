#include "network/exchange_hub.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"
#include "columns/chunk_packing.h"
#include "network/loopback_transport.h"

namespace pistachio {
namespace {

constexpr int64_t kWindow = 64 << 10;

Chunk numbers(int64_t rows) {
  return Chunk({Column::fixed(TypeKind::BigInt, at::arange(rows, at::kLong))}, rows);
}

// Hands on to the hub what arrives on a rank.
class HubReceiver final : public MessageReceiver {
 public:
  explicit HubReceiver(Transport& transport) : hub(transport) { transport.start(*this); }
  void on_message(int source, Message message) noexcept override { hub.take(source, message); }
  void on_peer_lost(int, std::string) noexcept override {}

  ExchangeHub hub;
};

class ExchangeHubTest : public testing::Test {
 protected:
  ~ExchangeHubTest() override {
    for (int rank = 0; rank < 2; ++rank) network_.transport(rank).stop();
  }

  // A stall becomes an error.
  void run(Task<void> task) {
    CancelSource watchdog({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    scheduler_.run(std::move(task), watchdog.token());
  }

  // Sends the chunks from rank 1 to rank 0, gives their rows as they arrive.
  std::vector<int64_t> move_rows(std::vector<int64_t> sizes) {
    ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
    QueryExchanges receiving(first_.hub, 1, 1, limits);
    QueryExchanges sending(second_.hub, 1, 1, limits);
    std::vector<int64_t> received;
    auto send = [&]() -> Task<void> {
      for (int64_t size : sizes) {
        Task<bool> one = sending.output(0).send(0, numbers(size));
        co_await one;
      }
      sending.output(0).finish();
    };
    auto receive = [&]() -> Task<void> {
      while (true) {
        Task<std::optional<ExchangeInput::Rows>> next = receiving.input(0).receive();
        std::optional<ExchangeInput::Rows> rows = co_await next;
        if (!rows) co_return;
        received.push_back(unpack_chunk(rows->block).rows());
        receiving.input(0).release(*rows);
      }
    };
    receiving.output(0).finish();
    std::vector<Task<void>> all;
    all.push_back(send());
    all.push_back(sending.output(0).carry());
    all.push_back(receiving.output(0).carry());
    all.push_back(receive());
    run(when_all(std::move(all)));
    return received;
  }

  Scheduler scheduler_{SchedulerOptions{.workers = 2}};
  LoopbackNetwork network_{2};
  HubReceiver first_{network_.transport(0)};
  HubReceiver second_{network_.transport(1)};
};

TEST_F(ExchangeHubTest, RowsArriveUntilAllSendersHaveEnded) {
  std::vector<int64_t> received = move_rows({3, 0, 5});
  std::sort(received.begin(), received.end());
  EXPECT_EQ(received, (std::vector<int64_t>{0, 3, 5}));
}

TEST_F(ExchangeHubTest, MoreThanAWindowPassesAsTheReceiverWorksItUp) {
  EXPECT_EQ(move_rows(std::vector<int64_t>(200, 1000)).size(), 200U);
}

// The receiver tells of small amounts of credit late; a message that nearly fills the window must not wait for them.
TEST_F(ExchangeHubTest, ALargeMessagePassesBehindASmallOne) {
  int64_t large = kWindow / 8 - 40;
  EXPECT_EQ(move_rows({100, large, 100, large, 3 * large, 1, large}).size(), 7U);
}

TEST_F(ExchangeHubTest, SendersHearThatNothingMoreIsWanted) {
  ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
  QueryExchanges receiving(first_.hub, 1, 1, limits);
  QueryExchanges sending(second_.hub, 1, 1, limits);
  receiving.input(0).close();
  auto send = [&]() -> Task<void> {
    while (true) {
      Task<bool> one = sending.output(0).send(0, numbers(1000));
      bool is_wanted = co_await one;
      if (!is_wanted) break;
    }
    sending.output(0).finish();
  };
  std::vector<Task<void>> all;
  all.push_back(send());
  all.push_back(sending.output(0).carry());
  run(when_all(std::move(all)));
  EXPECT_FALSE(sending.output(0).is_wanted(0));
}

// A rank's own rows wait for a slow reader like those of others, and the end of each source is told.
TEST_F(ExchangeHubTest, OwnRowsKeepToTheWindowToo) {
  ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
  QueryExchanges own(first_.hub, 1, 1, limits);
  QueryExchanges other(second_.hub, 1, 1, limits);
  std::atomic<int> sent = 0;
  auto send = [&]() -> Task<void> {
    for (int i = 0; i < 100; ++i) {
      Task<bool> one = own.output(0).send(0, numbers(1000));
      co_await one;
      ++sent;
    }
    own.output(0).finish();
  };
  int most_ahead = 0;
  std::vector<int64_t> order;
  std::vector<int> ended;
  auto receive = [&]() -> Task<void> {
    while (true) {
      Task<std::optional<ExchangeInput::Rows>> next = own.input(0).receive_with_ends();
      std::optional<ExchangeInput::Rows> rows = co_await next;
      if (!rows) co_return;
      if (rows->is_end) {
        ended.push_back(rows->source);
        continue;
      }
      order.push_back(rows->number);
      most_ahead = std::max(most_ahead, sent - static_cast<int>(order.size()));
      own.input(0).release(*rows);
    }
  };
  other.output(0).finish();
  std::vector<Task<void>> all;
  all.push_back(send());
  all.push_back(own.output(0).carry());
  all.push_back(other.output(0).carry());
  all.push_back(receive());
  run(when_all(std::move(all)));
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  std::sort(ended.begin(), ended.end());
  EXPECT_EQ(ended, (std::vector<int>{0, 1}));
  // Waiting to be carried, under way, and one each in a hand.
  EXPECT_LE(most_ahead, 2 * kWindow / 8000 + 4);
}

TEST_F(ExchangeHubTest, NotesReachAllRanks) {
  ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
  QueryExchanges one(first_.hub, 1, 2, limits);
  QueryExchanges two(second_.hub, 1, 2, limits);
  std::vector<std::vector<std::string>> read(4);
  auto share = [&](QueryExchanges& own, uint32_t topic, std::string note, size_t place) -> Task<void> {
    Task<std::vector<std::string>> sharing = own.notes().share(topic, std::move(note));
    read[place] = co_await sharing;
  };
  std::vector<Task<void>> all;
  all.push_back(share(one, 0, "a", 0));
  all.push_back(share(two, 1, "", 1));
  all.push_back(share(two, 0, "b", 2));
  all.push_back(share(one, 1, "d", 3));
  run(when_all(std::move(all)));
  EXPECT_EQ(read[0], (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read[2], read[0]);
  EXPECT_EQ(read[1], (std::vector<std::string>{"d", ""}));
  EXPECT_EQ(read[3], read[1]);
}

}  // namespace
}  // namespace pistachio
