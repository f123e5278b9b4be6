#include "network/exchange_hub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>

#include "base/byte_stream.h"
#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"
#include "columns/chunk_packing.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"
#include "network/hub_receiver.h"
#include "network/loopback_transport.h"

namespace pistachio {
namespace {

constexpr int64_t kWindow = 64 << 10;

Chunk numbers(int64_t rows) {
  return Chunk({Column::fixed(TypeKind::BigInt, at::arange(rows, at::kLong))}, rows);
}

class ExchangeHubTest : public testing::Test {
 protected:
  explicit ExchangeHubTest(LoopbackOptions options = {}, std::vector<int> hosts = {})
      : network_(2, options), first_(network_.transport(0), hosts), second_(network_.transport(1), hosts) {}
  ~ExchangeHubTest() override {
    for (int rank = 0; rank < 2; ++rank) network_.transport(rank).stop();
  }

  // Turns a hang into an error.
  void run(Task<void> task) {
    CancelSource watchdog({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    scheduler_.run(std::move(task), watchdog.token());
  }

  // Sends the chunks from rank 1 to rank 0, two tasks on each side; returns what arrived, in any order.
  std::vector<Chunk> move_chunks(const std::vector<Chunk>& chunks, ExchangeLimits limits) {
    int64_t query = next_query_++;
    QueryExchanges receiving(first_.hub, query, 1, limits);
    QueryExchanges sending(second_.hub, query, 1, limits);
    std::mutex mutex;
    std::vector<Chunk> received;
    std::atomic<size_t> next = 0;
    std::atomic<int> sending_tasks = 2;
    auto send = [&]() -> Task<void> {
      for (size_t i = next++; i < chunks.size(); i = next++) {
        Task<bool> one = sending.output(0).send(0, std::vector<Chunk>(1, chunks[i]));
        co_await one;
      }
      if (--sending_tasks == 0) sending.output(0).finish();
    };
    auto receive = [&]() -> Task<void> {
      while (true) {
        Task<std::optional<ExchangeInput::Rows>> taking = receiving.input(0).receive();
        std::optional<ExchangeInput::Rows> rows = co_await taking;
        if (!rows) co_return;
        Chunk chunk = ExchangeInput::unpack(*rows);
        receiving.input(0).release(*rows);
        std::lock_guard lock(mutex);
        received.push_back(std::move(chunk));
      }
    };
    receiving.output(0).finish();
    std::vector<Task<void>> all;
    all.push_back(send());
    all.push_back(send());
    all.push_back(sending.output(0).carry());
    all.push_back(receiving.output(0).carry());
    all.push_back(receive());
    all.push_back(receive());
    run(when_all(std::move(all)));
    sent_ = sending.figures(0);
    received_ = receiving.figures(0);
    return received;
  }

  // The same for chunks of these sizes.
  std::vector<int64_t> move_rows(const std::vector<int64_t>& sizes, RowCompression compress = RowCompression::None) {
    std::vector<Chunk> chunks;
    for (int64_t size : sizes) chunks.push_back(numbers(size));
    std::vector<int64_t> rows;
    ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow, .compress = compress};
    for (const Chunk& chunk : move_chunks(chunks, limits)) rows.push_back(chunk.rows());
    return rows;
  }

  // The error that rank 0 reports for messages that rank 1 fabricates.
  std::string error_of_messages(const std::function<void(QueryExchanges&)>& send) {
    ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
    int64_t query = next_query_++;
    QueryExchanges receiving(first_.hub, query, 1, limits);
    QueryExchanges sending(second_.hub, query, 1, limits);
    send(sending);
    auto receive = [&]() -> Task<void> {
      Task<std::optional<ExchangeInput::Rows>> taking = receiving.input(0).receive();
      std::optional<ExchangeInput::Rows> rows = co_await taking;
      ExchangeInput::unpack(*rows);
    };
    try {
      run(receive());
    } catch (const PeerError& error) {
      EXPECT_EQ(error.rank(), 1);
      return error.message();
    }
    return "";
  }

  Scheduler scheduler_{SchedulerOptions{.workers = 2}};
  LoopbackNetwork network_;
  HubReceiver first_;
  HubReceiver second_;
  ExchangeFigures sent_, received_;  // of the latest move_chunks
  int64_t next_query_ = 1;
};

// Messages overtake each other.
class DisorderedExchangeHubTest : public ExchangeHubTest {
 protected:
  DisorderedExchangeHubTest() : ExchangeHubTest({.largest_delay = std::chrono::milliseconds(2)}) {}
};

// Both ranks are on the first of two hosts.
class SharedHostExchangeHubTest : public ExchangeHubTest {
 protected:
  SharedHostExchangeHubTest() : ExchangeHubTest({}, {0, 0, 1}) {}
};

TEST_F(ExchangeHubTest, RowsArriveUntilAllSendersHaveEnded) {
  std::vector<int64_t> received = move_rows({3, 0, 5});
  std::sort(received.begin(), received.end());
  EXPECT_EQ(received, (std::vector<int64_t>{0, 3, 5}));
}

TEST_F(ExchangeHubTest, CreditLetsMoreThanOneWindowPass) {
  EXPECT_EQ(move_rows(std::vector<int64_t>(200, 1000)).size(), 200U);
}

// The receiver delays small amounts of credit; a message that nearly fills the window must not wait for them.
TEST_F(ExchangeHubTest, LargeMessagePassesAfterSmallOne) {
  int64_t large = kWindow / 8 - 40;
  EXPECT_EQ(move_rows({100, large, 100, large, 3 * large, 1, large}).size(), 7U);
}

// Each message exceeds the window before compression: credit counts bytes on the wire.
TEST_F(ExchangeHubTest, CompressedRowsArriveAndCountWireBytes) {
  std::vector<int64_t> sizes(30, 3 * kWindow / 8);
  EXPECT_EQ(move_rows(sizes), sizes);
  int64_t raw_bytes = sent_.bytes_sent;
  EXPECT_EQ(move_rows(sizes, RowCompression::AcrossNetwork), sizes);
  EXPECT_GT(sent_.bytes_sent, 0);
  EXPECT_LT(sent_.bytes_sent, raw_bytes * 9 / 10);
  EXPECT_EQ(sent_.bytes_sent, received_.bytes_received);
  EXPECT_EQ(sent_.messages_sent, 30);
}

TEST_F(SharedHostExchangeHubTest, RowsWithinAHostAreNotCompressed) {
  const std::vector<int64_t> sizes(30, 3 * kWindow / 8);
  EXPECT_EQ(move_rows(sizes), sizes);
  const int64_t raw_bytes = sent_.bytes_sent;
  EXPECT_EQ(move_rows(sizes, RowCompression::AcrossNetwork), sizes);
  EXPECT_EQ(sent_.bytes_sent, raw_bytes);
  EXPECT_EQ(move_rows(sizes, RowCompression::Everywhere), sizes);
  EXPECT_LT(sent_.bytes_sent, raw_bytes * 9 / 10);
}

TEST_F(ExchangeHubTest, DamagedMessagesAreErrorsOfTheirSender) {
  at::Tensor nonsense = at::full({1000}, 9, at::kByte);
  std::string no_numbers = numbers_to_bytes({});
  auto compressed = [&](QueryExchanges& peer) { peer.send(0, MessageKind::CompressedRows, 0, 0, nonsense, no_numbers); };
  EXPECT_NE(error_of_messages(compressed).find("compressed rows"), std::string::npos);
  auto headless = [&](QueryExchanges& peer) { peer.send(0, MessageKind::Rows, 0, 0, nonsense, "x"); };
  EXPECT_NE(error_of_messages(headless).find("damaged"), std::string::npos);
  auto twice = [&](QueryExchanges& peer) {
    for (int i = 0; i < 2; ++i) peer.send(0, MessageKind::Dictionary, 0, 3, nonsense, retired_to_bytes({}));
  };
  EXPECT_NE(error_of_messages(twice).find("dictionary"), std::string::npos);
  auto endless = [&](QueryExchanges& peer) { peer.send(0, MessageKind::End, 0, 1); };
  EXPECT_NE(error_of_messages(endless).find("damaged"), std::string::npos);
  auto before_the_beginning = [&](QueryExchanges& peer) { peer.send(0, MessageKind::End, 0, -1, {}, std::string(8, '\0')); };
  EXPECT_NE(error_of_messages(before_the_beginning).find("before its beginning"), std::string::npos);
  auto greedy = [&](QueryExchanges& peer) { peer.send(0, MessageKind::Credit, 0, -5); };
  EXPECT_NE(error_of_messages(greedy).find("its credit is negative"), std::string::npos);
}

TEST_F(ExchangeHubTest, RowsWithMissingDictionaryDoNotHang) {
  auto send = [](QueryExchanges& peer) {
    peer.send(0, MessageKind::Rows, 0, 0, pack_chunk(numbers(3)), numbers_to_bytes({5}));
    ByteWriter count;
    count.put<int64_t>(0);
    peer.send(0, MessageKind::End, 0, 1, {}, count.take());
  };
  EXPECT_NE(error_of_messages(send).find("never sent"), std::string::npos);
}

std::shared_ptr<const Column> dictionary_of(int64_t entries, int64_t first) {
  return std::make_shared<const Column>(Column::fixed(TypeKind::BigInt, at::arange(first, first + entries, at::kLong)));
}

// The number of the chunk, and values derived from it.
Chunk coded_chunk(int64_t number, const std::shared_ptr<const Column>& dictionary) {
  int64_t rows = dictionary->rows();
  return Chunk({Column::fixed(TypeKind::BigInt, at::full({rows}, number, at::kLong)),
                Column::dictionary(at::arange(rows, at::kInt).flip(0).contiguous(), dictionary)},
               rows);
}

void expect_same_chunks(std::vector<Chunk> received, const std::vector<Chunk>& sent) {
  ASSERT_EQ(received.size(), sent.size());
  auto number = [](const Chunk& chunk) { return chunk.column(0).values()[0].item<int64_t>(); };
  std::sort(received.begin(), received.end(), [&](const Chunk& left, const Chunk& right) { return number(left) < number(right); });
  for (size_t i = 0; i < sent.size(); ++i) {
    ASSERT_EQ(number(received[i]), number(sent[i]));
    ASSERT_TRUE(received[i].column(1).is_dictionary());
    ASSERT_TRUE(at::equal(decode_dictionary(received[i].column(1)).values(), decode_dictionary(sent[i].column(1)).values())) << i;
  }
}

TEST_F(ExchangeHubTest, DictionaryIsSentOnce) {
  constexpr int64_t entries = 1000;
  auto dictionary = dictionary_of(entries, 5);
  std::vector<Chunk> chunks;
  for (int64_t i = 0; i < 40; ++i) chunks.push_back(coded_chunk(i, dictionary));
  for (RowCompression compress : {RowCompression::None, RowCompression::Everywhere}) {
    std::vector<Chunk> received = move_chunks(chunks, {.window_bytes = kWindow, .outgoing_bytes = kWindow, .compress = compress});
    expect_same_chunks(received, chunks);
    for (const Chunk& chunk : received) EXPECT_EQ(chunk.column(1).dictionary_column(), received[0].column(1).dictionary_column());
    EXPECT_EQ(sent_.messages_sent, 41);
    EXPECT_EQ(sent_.messages_sent, received_.messages_received);
    EXPECT_EQ(sent_.bytes_sent, received_.bytes_received);
    // Chunk numbers, codes, and one dictionary.
    EXPECT_LT(sent_.bytes_sent, 40 * (entries * 12 + 300) + entries * 8 + 300);
  }
}

// More dictionaries than the receiver may keep, each used by several messages that overtake each other.
TEST_F(DisorderedExchangeHubTest, DictionariesComeAndGo) {
  std::vector<std::shared_ptr<const Column>> dictionaries;
  for (int64_t i = 0; i < 12; ++i) dictionaries.push_back(dictionary_of(600 + 50 * i, 1000 * i));
  std::vector<Chunk> chunks;
  for (int64_t i = 0; i < 300; ++i) chunks.push_back(coded_chunk(i, dictionaries[static_cast<size_t>(i * i / 50 % 12)]));
  for (RowCompression compress : {RowCompression::None, RowCompression::Everywhere}) {
    std::vector<Chunk> received = move_chunks(chunks, {.window_bytes = kWindow, .outgoing_bytes = kWindow, .compress = compress});
    expect_same_chunks(received, chunks);
    EXPECT_GT(sent_.messages_sent, 312);  // some were retired and sent again
    EXPECT_LT(sent_.messages_sent, 600);
    EXPECT_EQ(sent_.bytes_sent, received_.bytes_received);
  }
}

// The dictionaries of one chunk together exceed what the receiver may keep.
TEST_F(DisorderedExchangeHubTest, MessageMayNeedMoreDictionariesThanKept) {
  std::vector<Chunk> chunks;
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<Column> columns{Column::fixed(TypeKind::BigInt, at::full({2000}, i, at::kLong))};
    for (int64_t c = 0; c < 8; ++c)
      columns.push_back(Column::dictionary(at::arange(2000, at::kInt), dictionary_of(2000, 10000 * i + 100 * c)));
    chunks.emplace_back(std::move(columns), 2000);
  }
  std::vector<Chunk> received = move_chunks(chunks, {.window_bytes = kWindow, .outgoing_bytes = kWindow});
  expect_same_chunks(received, chunks);
  EXPECT_EQ(sent_.messages_sent, 180);
}

TEST_F(ExchangeHubTest, ClosedInputStopsSenders) {
  ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
  QueryExchanges receiving(first_.hub, 1, 1, limits);
  QueryExchanges sending(second_.hub, 1, 1, limits);
  receiving.input(0).close();
  auto send = [&]() -> Task<void> {
    while (true) {
      Task<bool> one = sending.output(0).send(0, std::vector<Chunk>(1, numbers(1000)));
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

// Back-pressure of a slow reader applies to local rows too, and the end of each source is reported.
TEST_F(ExchangeHubTest, LocalRowsRespectTheWindow) {
  ExchangeLimits limits{.window_bytes = kWindow, .outgoing_bytes = kWindow};
  QueryExchanges own(first_.hub, 1, 1, limits);
  QueryExchanges other(second_.hub, 1, 1, limits);
  std::atomic<int> sent = 0;
  auto send = [&]() -> Task<void> {
    for (int i = 0; i < 100; ++i) {
      Task<bool> one = own.output(0).send(0, std::vector<Chunk>(1, numbers(1000)));
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
  // Queued for sending, in flight, and one held by each task.
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
